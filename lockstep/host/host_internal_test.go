package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// note returns a record of the given size that begins like a note.
func note(size int, fill byte) []byte {
	b := bytes.Repeat([]byte{fill}, size)
	b[0], b[1] = 0x92, byte(record.KindNote)
	return b
}

func TestRing(t *testing.T) {
	for _, row := range []struct {
		name           string
		records, bytes int
		sizes          []int
	}{
		{"short records", 16, 0, []int{3}},
		{"few long ones", 1 << 10, 0, []int{100 << 10, 3, 120 << 10, 7000}},
		{"one pushes all others out", 1 << 10, 0, []int{100 << 10, 100 << 10, protocol.MaxServerMessage}},
		{"as long as can be", 1 << 10, 0, []int{protocol.MaxServerMessage}},
		{"mixed", 100, 300 << 10, []int{3, 5, 90 << 10, 3, 40000, 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRing(row.records, row.bytes)
			all := [][]byte{nil} // the header
			if err := r.Append([]byte{0x9c, byte(record.KindHeader)}); err != nil {
				t.Fatal(err)
			}
			for i := range 300 {
				raw := note(row.sizes[i%len(row.sizes)], byte(i))
				all = append(all, raw)
				if err := r.Append(append([]byte(nil), raw...)); err != nil {
					t.Fatal(err)
				}
				if err := r.Append([]byte{0x95, byte(record.KindKeyframe)}); err != nil {
					t.Fatal(err)
				}
				if r.Next() != protocol.Position(len(all)) || r.First() >= r.Next() || r.Next()-r.First() > protocol.Position(row.records) {
					t.Fatalf("got positions %d to %d, want the last %d of %d", r.First(), r.Next(), row.records, len(all))
				}
				for p := r.First(); p < r.Next(); p++ {
					if !bytes.Equal(r.Record(p), all[p]) {
						t.Fatalf("record %d is another one after %d", p, i)
					}
				}
				if kept := r.Next() - r.First(); r.First() > 1 && kept < protocol.Position(row.records) && sizeOf(all[r.First()-1:]) <= r.maxBytes-protocol.MaxServerMessage {
					t.Fatalf("gave up record %d without need", r.First()-1)
				}
			}
			if r.Memory() > r.MemoryBound() {
				t.Errorf("got %d bytes of memory, want at most %d", r.Memory(), r.MemoryBound())
			}
			if r.Has(r.First()-1) || r.Has(r.Next()+1) || !r.Has(r.First()) || !r.Has(r.Next()) {
				t.Error("Has is wrong about its ends")
			}
			got, p := r.AppendFrom(nil, r.First(), r.Next()-1, 1<<30)
			if want := bytes.Join(all[r.First():len(all)-1], nil); !bytes.Equal(got, want) || p != r.Next()-1 {
				t.Errorf("got %d bytes up to %d, want %d", len(got), p, len(want))
			}
			if got, p := r.AppendFrom(nil, r.Next()-1, r.Next(), 1); len(got) > 0 || p != r.Next()-1 {
				t.Error("a record went into a byte")
			}
		})
	}
	if err := newRing(1, 1).Append(note(protocol.MaxServerMessage+1, 0)); err == nil {
		t.Error("took a record larger than a message")
	}
}

// TestRingGrows appends short records. The ring grows with them up to its bounds, and drops none before.
func TestRingGrows(t *testing.T) {
	const records, sizeBytes, each = 3000, 300 << 10, 100
	r := newRing(records, sizeBytes)
	r.begin(1)
	if got := r.Memory(); got > 32<<10 {
		t.Errorf("an empty ring has %d bytes, want at most %d", got, 32<<10)
	}
	for i := range 2 * records {
		if err := r.Append(note(each, byte(i))); err != nil {
			t.Fatal(err)
		}
		kept := int(r.Next() - r.First())
		if want := min(i+1, records); kept != want {
			t.Fatalf("got %d records after %d, want %d", kept, i+1, want)
		}
		if got, want := r.Memory(), 32<<10+2*kept*(each+16)+kept; got > want {
			t.Fatalf("got %d bytes for %d records, want at most %d", got, kept, want)
		}
		for _, p := range []protocol.Position{r.First(), r.Next() - 1} {
			if got := r.Record(p); !bytes.Equal(got, note(each, byte(p-1))) {
				t.Fatalf("record %d is another one after %d", p, i+1)
			}
		}
	}
	if got, want := r.Memory(), r.MemoryBound(); got > want {
		t.Errorf("got %d bytes, want at most %d", got, want)
	}
}

func sizeOf(records [][]byte) (n int) {
	for _, r := range records {
		n += len(r)
	}
	return n
}

func TestRate(t *testing.T) {
	r := Rate{N: 10, Per: lockstep.Second, Burst: 5}
	var b bucket
	now := lockstep.Time(1 << 50)
	took := 0
	for range 100 {
		if b.take(now, r, 1) {
			took++
		}
	}
	if took != 5 {
		t.Errorf("took %d at once, want 5", took)
	}
	for range 1000 { // ten seconds
		now += 10 * lockstep.Millisecond
		if b.take(now, r, 1) {
			took++
		}
	}
	if took != 105 {
		t.Errorf("took %d in ten seconds, want 5 + 100", took)
	}
	if b.take(now+1<<55, r, 6) {
		t.Error("took more than a burst")
	}
	if !b.take(now+1<<55, r, 5) || b.take(now+1<<55, r, 1) {
		t.Error("a full bucket has not its burst")
	}
}

// With odd rates, ticks are due at the times that exact arithmetic gives, for a year.
func TestClock(t *testing.T) {
	c := clock{each: 1_000_000, rate: 30, percent: 100}
	c.restart(7)
	for _, n := range []int64{0, 1, 2, 29, 30 * 3600 * 24 * 365} {
		c.n = n
		if got, want := c.due(), 7+lockstep.Time((n+1)*1_000_000/30); got != want {
			t.Errorf("tick %d is due at %d, want %d", n+1, got, want)
		}
	}
	c.n = 30
	c.set(200)
	if got, want := c.due(), 7+lockstep.Second+lockstep.Second/60; got != want {
		t.Errorf("at double speed the next is due at %d, want %d", got, want)
	}
}

// newQuietHost hosts a match of a game in which nothing happens, with a player and a spectator that do not read.
func newQuietHost(t *testing.T) *Host {
	type W struct{ N uint32 }
	g := lockstep.MustGame(lockstep.Rules[W, W]{
		Name: "nothing", Build: "1",
		New:  func(*W, *lockstep.Settings, *W) error { return nil },
		Step: func(*W, *W, *lockstep.Turn) {},
	})
	header, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), &W{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(g, header, Options{
		AnonymousSpectators: true,
		Random:              func(b []byte) { b[0] = 1 },
		Authorize:           func(string) (Grant, error) { return Grant{Role: protocol.Seated}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"x", ""} {
		id, _ := h.Connect(0, "")
		a := protocol.NewAuth(g)
		a.Token = token
		h.Receive(0, id, h.writer.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a}))
	}
	return h
}

// Unread answers do not pile up.
func TestHostUnreadAnswers(t *testing.T) {
	h := newQuietHost(t)
	p := h.seats[0].peer
	for range maxPrivate {
		h.private(p, &protocol.Message{Kind: protocol.KindPong, Nonce: 1 << 60})
	}
	if code, _, closed := h.Closed(p.id); !closed || code != protocol.CloseSlow || len(p.out) > maxPrivate {
		t.Errorf("closed %t as %v with %d bytes waiting", closed, code, len(p.out))
	}
	if h.peers[1].state == Closed {
		t.Error("the other one is closed, too")
	}
}

// CheckBounds finds each kind of inconsistency.
func TestCheckBoundsControl(t *testing.T) {
	for _, row := range []struct {
		want   string
		change func(h *Host, p *peer)
	}{
		{"", func(h *Host, p *peer) {}},
		{"of memory", func(h *Host, p *peer) { h.shared = &keyframe{bytes: make([]byte, 64<<20)} }},
		{"peers and", func(h *Host, p *peer) { h.byID[99] = p }},
		{"spectators, want", func(h *Host, p *peer) { h.options.MaxSpectators = 0 }},
		{"is owned by", func(h *Host, p *peer) { h.seats[1].peer = p }},
		{"is owned by", func(h *Host, p *peer) { p.state = Closed }},
		{"without an owner", func(h *Host, p *peer) { h.seats[0].peer = nil }},
		{"bytes wait", func(h *Host, p *peer) { p.out = make([]byte, maxPrivate+1) }},
		{"cursor", func(h *Host, p *peer) { p.cursor, p.high = 99, 99 }},
		{"on their way", func(h *Host, p *peer) {
			p.state, p.acked, p.cursor = Live, 0, h.ring.Next()
			h.options.Lag = 0
			p.cursor += 65
			p.high = p.cursor
			h.ring.next += 65
		}},
		{"speaks for", func(h *Host, p *peer) { h.peers[1].seat, h.peers[1].state = 0, Live }},
		{"has a keyframe", func(h *Host, p *peer) { p.state, p.sync = Live, h.shared }},
	} {
		h := newQuietHost(t)
		row.change(h, h.seats[0].peer)
		if got := fmt.Sprint(h.CheckBounds(100)); !strings.Contains(got, row.want) || row.want == "" && got != "<nil>" {
			t.Errorf("got %s, want %q", got, row.want)
		}
	}
}

func TestHostOptions(t *testing.T) {
	random := func([]byte) {}
	s := lockstep.DefaultSettings(250)
	for _, row := range []struct {
		want string
		o    Options
	}{
		{"<nil>", Options{Random: random}},
		{"random", Options{}},
		{"lag: got 3, want 20", Options{Random: random, Lag: 3}},
		{"input delay: got 251", Options{Random: random, InputDelay: 251}},
		{"rate 2: got", Options{Random: random, Rates: Rates{Commands: Rate{N: 1}}}},
		{"slow percent", Options{Random: random, Slow: SlowPolicy{Percent: 101}}},
		{"start players", Options{Random: random, Start: StartPolicy{Players: 251}}},
	} {
		if got := fmt.Sprint(row.o.complete(&s)); !strings.Contains(got, row.want) {
			t.Errorf("got %s, want %q", got, row.want)
		}
	}
}

// systemCommands is the largest number of commands of System in a frame.
const systemCommands = lockstep.MaxPlayers + 64

// The largest frame that players can make is one message, in a match of any size.
func TestLargestFrameIsOneMessage(t *testing.T) {
	for players := 1; players <= lockstep.MaxPlayers; players++ {
		s := lockstep.DefaultSettings(uint8(players))
		o := Options{Random: func([]byte) {}}
		if err := o.complete(&s); err != nil {
			t.Fatal(err)
		}
		payloads := o.share(&s) - commandOverhead*o.MaxPerTick
		if payloads < o.MaxPerTick {
			t.Errorf("%d players: %d bytes for %d commands", players, payloads, o.MaxPerTick)
		}
		largest := 5 + 1 + players*(o.MaxPerTick*commandOverhead+payloads) + systemCommands*(commandOverhead+8)
		if largest > protocol.MaxServerMessage {
			t.Errorf("%d players: a frame can have %d bytes, want at most %d", players, largest, protocol.MaxServerMessage)
		}
	}
}
