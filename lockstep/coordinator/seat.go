package coordinator

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

type seat struct {
	present     bool
	away        bool              // lost or taken over
	awaitsState bool              // has no state now, and so reports no checksums
	joined      lockstep.Tick     // commands run after this tick
	left        lockstep.Tick     // of the latest Left
	high        lockstep.Sequence // highest decided sequence
	sealed      lockstep.Sequence // highest sequence in a sealed frame
	last        lockstep.Tick     // the latest tick that holds a command of this player
	windows     []window          // by limit; nil before the first limited command

	// receipts holds the last CommandWindow decisions, at sequence % len. It grows, since most players give few commands.
	receipts []lockstep.Receipt
}

func (s *seat) receipt(seq lockstep.Sequence) (lockstep.Receipt, bool) {
	if len(s.receipts) == 0 {
		return lockstep.Receipt{}, false
	}
	r := s.receipts[seq%lockstep.Sequence(len(s.receipts))]
	return r, r.Sequence == seq && seq != 0
}

func (s *seat) remember(r lockstep.Receipt) lockstep.Receipt {
	s.keep(r)
	s.high = max(s.high, r.Sequence)
	return r
}

// keep puts r into its slot. If a decision that is not forgotten is there, it makes more slots first.
func (s *seat) keep(r lockstep.Receipt) {
	for len(s.receipts) < record.CommandWindow {
		if len(s.receipts) > 0 {
			old := s.receipts[r.Sequence%lockstep.Sequence(len(s.receipts))]
			if old.Sequence == 0 || old.Sequence == r.Sequence || old.Sequence+record.CommandWindow <= r.Sequence {
				break
			}
		}
		all := s.receipts
		s.receipts = make([]lockstep.Receipt, max(8, 2*len(all)))
		for _, old := range all {
			if old.Sequence != 0 { // no command has this number
				s.receipts[old.Sequence%lockstep.Sequence(len(s.receipts))] = old
			}
		}
	}
	s.receipts[r.Sequence%lockstep.Sequence(len(s.receipts))] = r
}

// order returns Accepted, or the reason why seq can no longer or not yet be decided.
func (s *seat) order(seq lockstep.Sequence) lockstep.Reason {
	switch {
	case seq <= s.sealed || s.high >= record.CommandWindow && seq <= s.high-record.CommandWindow:
		return lockstep.StaleCommand
	case uint64(seq) > uint64(s.high)+record.CommandWindow:
		return lockstep.TooFarAhead
	}
	return lockstep.Accepted
}

// place returns the tick nearest to t that keeps the player's waiting commands in the order of their sequences.
func (s *seat) place(seq lockstep.Sequence, t lockstep.Tick) lockstep.Tick {
	t = max(t, s.joined+1)
	q := seq - 1
	for ; q > s.sealed && seq-q < record.CommandWindow; q-- {
		if r, ok := s.receipt(q); ok && r.Reason == lockstep.Accepted {
			t = max(t, r.Tick)
			break
		}
	}
	if q > s.sealed && seq-q == record.CommandWindow {
		t = max(t, s.last) // receipts of earlier accepted commands may be forgotten
	}
	for q := seq + 1; q <= s.high && q > seq; q++ {
		if r, ok := s.receipt(q); ok && r.Reason == lockstep.Accepted {
			return min(t, r.Tick)
		}
	}
	return t
}

// systemRoom is the number of a frame's commands that are reserved for System: one for each seat, and some for the match.
const systemRoom = lockstep.MaxPlayers + 64

// Memory that a slot keeps for its next tick. It releases larger buffers, so a player cannot make the match hold them for ever.
const (
	keepCommands = 1 << 10
	keepPayloads = 64 << 10
)

// A slot holds the commands that wait for one tick, in order of arrival.
type slot struct {
	commands []lockstep.Command
	payloads []byte  // the memory of the commands' payloads
	shares   []share // by seat
	system   int     // commands of System
}

type share struct {
	commands  uint16
	sizeBytes uint32 // of the payloads
}

func (s *slot) add(c lockstep.Command) {
	from := len(s.payloads)
	s.payloads = append(s.payloads, c.Payload...)
	c.Payload = s.payloads[from:len(s.payloads):len(s.payloads)]
	c.Value = nil
	s.commands = append(s.commands, c)
	if c.Player == lockstep.System {
		s.system++
		return
	}
	s.shares[c.Player].commands++
	s.shares[c.Player].sizeBytes += uint32(len(c.Payload))
}

func (s *slot) clear() {
	s.commands, s.payloads, s.system = s.commands[:0], s.payloads[:0], 0
	if cap(s.commands) > keepCommands {
		s.commands = nil
	}
	if cap(s.payloads) > keepPayloads {
		s.payloads = nil
	}
	clear(s.shares)
}

// slots holds the slots of the last sealed tick and of later ticks. Only ticks with commands have one; released slots are used again.
type slots struct {
	ring [record.MaxInputDelay + 2]*slot // tick t is at t % len
	free []*slot
}

func (s *slots) of(t lockstep.Tick, players uint8) *slot {
	at := &s.ring[int(t)%len(s.ring)]
	if *at == nil {
		if n := len(s.free); n > 0 {
			*at, s.free = s.free[n-1], s.free[:n-1]
		} else {
			*at = &slot{shares: make([]share, players)}
		}
	}
	return *at
}

func (s *slots) release(t lockstep.Tick) {
	at := &s.ring[int(t)%len(s.ring)]
	if *at != nil {
		(*at).clear()
		s.free, *at = append(s.free, *at), nil
	}
}

type limit struct {
	kind lockstep.Kind
	n    int
	per  lockstep.Tick // length of the window
}

func newLimits(g *lockstep.Game, s *lockstep.Settings) (all []limit) {
	for _, d := range g.Commands() {
		if l := g.CommandLimit(d.Kind); l.N > 0 {
			// Rounded down, but at least a tick.
			all = append(all, limit{d.Kind, l.N, lockstep.Tick(max(1, s.TicksIn(int64(l.Per))))})
		}
	}
	return all
}

func limitOf(limits []limit, kind lockstep.Kind) int {
	return slices.IndexFunc(limits, func(l limit) bool { return l.kind == kind })
}

// A window has the ticks of a player's last commands of a limited kind, ascending, at most as many as the limit allows. A command in tick
// t is within the limit if the oldest of them is not in the window that ends with t.
type window []lockstep.Tick

func (s *seat) used(limits []limit, kind lockstep.Kind, t lockstep.Tick) {
	i := limitOf(limits, kind)
	if i < 0 {
		return
	}
	if s.windows == nil {
		s.windows = make([]window, len(limits))
	}
	w := s.windows[i]
	if len(w) == limits[i].n {
		w = w[:copy(w, w[1:])]
	}
	at := len(w) // the ticks mostly ascend
	for at > 0 && w[at-1] > t {
		at--
	}
	s.windows[i] = slices.Insert(w, at, t)
}

// wait returns for how many ticks no command of a kind in the tick t is within its limit, and the detail of the
// rejection, which docs/spec/live.md describes. It returns 0 if the command is within the limit.
func (s *seat) wait(limits []limit, kind lockstep.Kind, t lockstep.Tick) (lockstep.Tick, string) {
	i := limitOf(limits, kind)
	if i < 0 || s.windows == nil {
		return 0, ""
	}
	w, l := s.windows[i], &limits[i]
	if len(w) < l.n || w[0]+l.per <= t {
		return 0, ""
	}
	wait := w[0] + l.per - t
	return wait, fmt.Sprintf("%d ticks: at most %d in %d ticks", wait, l.n, l.per)
}
