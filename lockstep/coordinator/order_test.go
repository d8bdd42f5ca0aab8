package coordinator_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A submission is what a player sends.
type submission struct {
	p       lockstep.Player
	seq     lockstep.Sequence
	kind    lockstep.Kind
	payload []byte
}

func (s submission) to(c *coordinator.Coordinator) lockstep.Receipt {
	return c.Submit(s.p, s.seq, s.kind, s.payload)
}

// Submissions for a tick may arrive in any order, of players and within one player. The frame has the same bytes, and
// every player gets the same receipts.
func TestAnyArrivalOrder(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var set []submission
		g, _ := testgame.NewBankMatch(t, 4)
		for p := range lockstep.Player(4) {
			seq := lockstep.Sequence(0)
			for range rng.IntN(12) {
				seq += lockstep.Sequence(1 + rng.IntN(3))
				kind, b := testgame.Encode(t, g, &testgame.Earn{Coins: uint16(rng.IntN(1000))})
				switch rng.IntN(8) {
				case 0:
					kind = 77 // rejected
				case 1:
					kind, b = testgame.Encode(t, g, &testgame.Give{To: p, Coins: []uint16{uint16(rng.IntN(9)), 5}})
				}
				set = append(set, submission{p, seq, kind, b})
			}
		}
		var frame, receipts []byte
		for permutation := range 20 {
			var tail record.Tail
			_, c := testgame.NewSeated(t, 4, &tail, coordinator.Options{InputDelay: 2})
			rng.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
			got := map[string]string{}
			for i, s := range set {
				got[fmt.Sprint(s.p, s.seq)] = s.to(c).String()
				if again := set[rng.IntN(i+1)]; got[fmt.Sprint(again.p, again.seq)] != again.to(c).String() {
					t.Fatalf("seed %d: a repeat of %d of player %d got another receipt", seed, again.seq, again.p)
				}
			}
			for range 3 {
				if _, err := c.Tick(); err != nil {
					t.Fatal(err)
				}
			}
			var records [][]byte
			if err := tail.Join(testgame.LogFunc(func(r []byte) { records = append(records, bytes.Clone(r)) })); err != nil {
				t.Fatal(err)
			}
			now, answers := bytes.Join(records[2:], nil), []byte(fmt.Sprint(got))
			if permutation == 0 {
				frame, receipts = now, answers
			}
			if !bytes.Equal(now, frame) || !bytes.Equal(answers, receipts) {
				t.Fatalf("seed %d, permutation %d: got\n% x\n%s\nwant\n% x\n%s", seed, permutation, now, answers, frame, receipts)
			}
		}
	}
}

// An auditor checks a log against the receipts. It counts only, and shares no ordering code with the coordinator.
type auditor struct {
	t     *testing.T
	dec   record.Decoder
	ran   map[[2]uint32]lockstep.Tick // (player, sequence): the tick it ran in
	last  map[lockstep.Player]lockstep.Sequence
	total int
}

func newAuditor(t *testing.T) *auditor {
	return &auditor{t: t, ran: map[[2]uint32]lockstep.Tick{}, last: map[lockstep.Player]lockstep.Sequence{}}
}

func (a *auditor) Append(record []byte) error {
	r, _, err := a.dec.Decode(record)
	if err != nil {
		a.t.Fatal(err)
	}
	before := -1
	for _, c := range r.Frame.Commands {
		id := [2]uint32{uint32(c.Player), uint32(c.Sequence)}
		if t, twice := a.ran[id]; twice {
			a.t.Fatalf("command %d of player %d ran at tick %d and at %d", c.Sequence, c.Player, t, r.Tick)
		}
		if int(c.Player) < before || c.Sequence <= a.last[c.Player] {
			a.t.Fatalf("command %d of player %d at tick %d is out of order", c.Sequence, c.Player, r.Tick)
		}
		before, a.last[c.Player] = int(c.Player), c.Sequence
		a.ran[id] = r.Tick
		if c.Player != lockstep.System {
			a.total++
		}
	}
	return nil
}

// Every accepted command runs exactly once, at the tick of its receipt, and a player's commands run in the order of
// their sequences. Repeats, losses, delays and reordering on the way do not matter, nor do changes of the input delay
// and players that leave and come back.
func TestExactlyOnce(t *testing.T) {
	accepted, repeats, stale := 0, 0, 0
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		a := newAuditor(t)
		g, c := testgame.NewSeated(t, 3, a, coordinator.Options{InputDelay: lockstep.Tick(1 + rng.IntN(4)), MaxPerTick: 8})
		receipts := map[[2]uint32]lockstep.Receipt{}
		var sent []submission // and maybe on the way
		var next [3]lockstep.Sequence
		for range 400 {
			for range rng.IntN(4) {
				p := lockstep.Player(rng.IntN(3))
				next[p] += lockstep.Sequence(1 + rng.IntN(20)/19*rng.IntN(300)) // with a rare gap
				kind, b := testgame.Encode(t, g, &testgame.Earn{Coins: uint16(next[p])})
				sent = append(sent, submission{p, next[p], kind, b})
			}
			for range rng.IntN(6) {
				if len(sent) == 0 {
					break
				}
				i := len(sent) - 1 - min(rng.IntN(1+rng.IntN(40)), len(sent)-1) // mostly recent ones
				s := sent[i]
				r := s.to(c)
				id := [2]uint32{uint32(s.p), uint32(s.seq)}
				before, known := receipts[id]
				switch {
				case known && r == before:
					repeats++
				case known && (r.Reason == lockstep.StaleCommand || r.Reason == lockstep.NotSeated):
					stale++
				case known && before.Reason == lockstep.Accepted:
					t.Fatalf("seed %d: command %d of player %d: %v after %v", seed, s.seq, s.p, r, before)
				default:
					receipts[id] = r
				}
			}
			switch rng.IntN(40) {
			case 0:
				if _, err := c.SetInputDelay(lockstep.Tick(1 + rng.IntN(6))); err != nil {
					t.Fatal(err)
				}
			case 1:
				if p := lockstep.Player(rng.IntN(3)); c.Seated(p) {
					if _, err := c.Leave(p); err != nil {
						t.Fatal(err)
					}
				}
			case 2, 3, 4:
				for p := range lockstep.Player(3) {
					if !c.Seated(p) {
						c.Join(p) // busy while p is leaving
					}
				}
			}
			if _, err := c.Tick(); err != nil {
				t.Fatal(err)
			}
		}
		for range 300 { // all that wait
			if _, err := c.Tick(); err != nil {
				t.Fatal(err)
			}
		}
		for id, r := range receipts {
			tick, ran := a.ran[id]
			if ran != (r.Reason == lockstep.Accepted) || ran && tick != r.Tick {
				t.Fatalf("seed %d: command %d of player %d: %v, ran %t at tick %d", seed, id[1], id[0], r, ran, tick)
			}
			if r.Reason == lockstep.Accepted {
				accepted++
				a.total--
			}
		}
		if a.total != 0 {
			t.Fatalf("seed %d: %d commands ran without a receipt", seed, a.total)
		}
	}
	t.Logf("%d accepted, %d repeats, %d stale", accepted, repeats, stale)
	if accepted < 3000 || repeats < 3000 || stale < 50 {
		t.Errorf("got %d accepted, %d repeats, %d stale: too few to prove anything", accepted, repeats, stale)
	}
}

// Options bound the commands that wait in a coordinator. It releases the memory of a burst.
func TestWaitingIsBounded(t *testing.T) {
	g, c := testgame.NewSeated(t, 2, testgame.Discard{}, coordinator.Options{InputDelay: record.MaxInputDelay, MaxPerTick: 1000, MaxBytesPerTick: 20000})
	coins := make([]uint16, 700)
	kind, b := testgame.Encode(t, g, &testgame.Give{Coins: coins})
	waiting := 0
	for tick := range 300 {
		for i := range 100 {
			seq := lockstep.Sequence(tick*100 + i + 1)
			if c.Submit(0, seq, kind, b).Reason == lockstep.Accepted {
				waiting += len(b)
			}
		}
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if limit := 300 * 20000; waiting > limit || waiting < limit/2 {
		t.Errorf("got %d bytes accepted in 300 ticks, want at most %d and not much less", waiting, limit)
	}
}

// The payloads of one frame are bounded for all players together, so that the frame is a record that a file can hold.
func TestBytesOfFrame(t *testing.T) {
	g, c := testgame.NewSeated(t, 2, testgame.Discard{}, coordinator.Options{MaxPerTick: 1000, MaxBytesPerTick: record.MaxFrameBytes})
	coins := make([]uint16, 5000)
	for i := range coins {
		coins[i] = 1000
	}
	kind, b := testgame.Encode(t, g, &testgame.Give{Coins: coins})
	bytes := 0
	var last lockstep.Receipt
	for i := range 600 {
		if last = c.Submit(lockstep.Player(i%2), lockstep.Sequence(i/2+1), kind, b); last.Reason == lockstep.Accepted {
			bytes += len(b)
		}
	}
	if bytes > record.MaxFrameBytes || bytes+len(b) <= record.MaxFrameBytes || last.Reason != lockstep.TooMany {
		t.Errorf("got %d bytes in one frame and %+v, want at most %d", bytes, last, record.MaxFrameBytes)
	}
}
