package player

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// againPace is how many ticks are computed again in the time of one tick of the match at full speed, so that the game
	// stays playable meanwhile.
	againPace = 2

	// againBurst is how many of them one call of Advance computes at most.
	againBurst = 4

	// againWaiting is how many checksums of them wait to be sent at most.
	againWaiting = 32

	// maxAgain is how many ticks it computes again at most.
	maxAgain = 4096

	// maxRuns is how many runs of them the outcome regards.
	maxRuns = 8
)

// Resimulated: after a desync the server has asked this client to compute the ticks after From up to To again. Outcome
// says what that shows. A later one for the same ticks replaces an earlier one.
type Resimulated struct {
	From, To lockstep.Tick
	Outcome  protocol.Outcome
}

// A resimulation computes past ticks again because the server asks for it. It has a copy of all that it needs, because
// a state of the server's may replace the client's own meanwhile. The copy stays for further requests.
type resimulation struct {
	from     lockstep.Tick
	begin    lockstep.Moment    // of tick from
	last     lockstep.Tick      // of commands
	commands []lockstep.Command // of the ticks after from
	first    []uint64           // by tick after from: the state hash that was computed first; 0 if it is not kept
	sim      *lockstep.Simulation
	results  []uint64 // the state hashes of tick last, of all runs so far

	to    lockstep.Tick // of the present request; 0 if it is answered
	state bool          // the state of tick to is asked for
	left  []lockstep.Command
	at    lockstep.Time    // when the next tick is due
	sums  []resimulatedSum // to be sent
	told  protocol.Outcome
}

// A resimulatedSum is the checksum of a tick that was computed again.
type resimulatedSum struct {
	tick lockstep.Tick // 0 if it could not be computed
	sum  checksum.Sum
}

// resimulateAsked takes a request. While an earlier one is not answered it has no effect, so a server cannot make the
// client work faster.
func (c *Client) resimulateAsked(m *protocol.Message) {
	if c.again != nil && (c.again.to > 0 || len(c.again.sums) > 0) || len(c.out.states) >= maxStates {
		return
	}
	if c.again == nil || c.again.sim == nil || c.again.from != m.From || m.Tick > c.again.last {
		c.again = c.material(m.From, m.Tick)
	}
	a := c.again
	if a == nil {
		a = &resimulation{}
		c.again = a
	}
	a.to, a.state, a.at = m.Tick, m.State, c.clock
	if a.sim == nil || a.sim.Restore(a.from, a.begin.State) != nil || a.sim.Hash() != a.begin.Sum.Hash {
		c.cannot(a) // the kept state is altered, too
		return
	}
	a.left = a.commands
}

// material copies what is needed to compute the ticks from+1 to last again, and returns nil if it is not kept.
func (c *Client) material(from, last lockstep.Tick) *resimulation {
	f := c.run.follower
	if f == nil || f.Tick() < last {
		return nil
	}
	m := f.Moment(from)
	if m == nil || m.State == nil {
		return nil
	}
	a := &resimulation{from: from, last: last, begin: lockstep.Moment{Tick: from, State: append([]byte(nil), m.State...)}}
	a.begin.Sum.Hash = m.Sum.Hash
	var kept bool
	if a.commands, kept = c.run.tape.since(from, last); !kept || last-from > maxAgain {
		return nil
	}
	for t := from + 1; t <= last; t++ {
		a.first = append(a.first, c.run.hashes.of(f, t))
	}
	var err error
	if a.sim, err = c.game.AwaitState(f.Header()); err != nil {
		return nil
	}
	return a
}

// cannot answers a request that cannot be answered otherwise.
func (c *Client) cannot(a *resimulation) {
	if a.state {
		c.out.states = append(c.out.states, stateAnswer{tick: a.to})
	} else {
		a.sums = append(a.sums, resimulatedSum{})
	}
	a.to, a.sim = 0, nil
}

// resimulate computes the ticks that are due again.
func (c *Client) resimulate() {
	a := c.again
	if a == nil {
		return
	}
	each := max(1, c.pace.duration(1, 100)/againPace)
	a.at = max(a.at, c.clock-againBurst*each)
	for n := 0; n < againBurst && c.againDue() <= c.clock; n++ {
		c.stepAgain(a)
		a.at += each
	}
}

// againDue returns when the next tick is to be computed again. A client that catches up has no time for it.
func (c *Client) againDue() lockstep.Time {
	a := c.again
	if a == nil || a.to == 0 || len(a.sums) >= againWaiting || c.link != linkUp || c.catchingUp {
		return 1<<62 - 1
	}
	return a.at
}

// stepAgain computes one tick again.
func (c *Client) stepAgain(a *resimulation) {
	f := lockstep.Frame{Tick: a.sim.Tick() + 1}
	n := 0
	for n < len(a.left) && a.left[n].Tick == f.Tick {
		n++
	}
	f.Commands, a.left = a.left[:n], a.left[n:]
	var phases phases
	if a.state && f.Tick == a.to {
		a.sim.ObservePhases(phases.add)
		defer a.sim.ObservePhases(nil)
	}
	if a.sim.Step(&f) != nil {
		c.cannot(a)
		return
	}
	if !a.state {
		s := resimulatedSum{tick: f.Tick}
		a.sim.Sum(&s.sum)
		a.sums = append(a.sums, s)
	}
	if f.Tick < a.to {
		return
	}
	if a.state {
		c.out.states = append(c.out.states, stateAnswer{tick: a.to, names: phases.names, sums: phases.sums, state: a.sim.AppendState(nil)})
	} else {
		c.compareAgain(a)
	}
	a.to = 0
}

// phases are the first parts of a tick that the rules mark, with the state hash at the beginning of each. A message has no room
// for longer names.
type phases struct {
	names []string
	sums  []uint64
}

func (p *phases) add(_ lockstep.Tick, name string, sum *checksum.Sum) {
	if len(p.names) < protocol.MaxPhases && len(name) <= record.MaxName {
		p.names, p.sums = append(p.names, name), append(p.sums, sum.Hash)
	}
}

// compareAgain tells the outcome of a run.
func (c *Client) compareAgain(a *resimulation) {
	if a.to != a.last || len(a.results) == maxRuns {
		return
	}
	a.results = append(a.results, a.sim.Hash())
	want, known := c.mismatches.agreedAt(a.last, c.run.every())
	first := a.first[len(a.first)-1]
	if !known || first == want {
		return
	}
	if o := protocol.OutcomeOf(want, first, a.results...); o != a.told {
		a.told = o
		c.tell(Resimulated{From: a.from, To: a.last, Outcome: o})
	}
}

// sendResimulated appends the checksums of ticks that were computed again.
func (c *Client) sendResimulated(dst []byte, start int) []byte {
	a, n := c.again, 0
	if a == nil {
		return dst
	}
	for ; n < len(a.sums) && room(dst, start, 9*protocol.MaxSections); n++ {
		s := &a.sums[n]
		c.out.message = protocol.Message{Kind: protocol.KindResimulated, Tick: s.tick, Hash: s.sum.Hash, Sections: s.sum.Sections}
		if s.tick > a.from {
			c.out.message.First = a.first[s.tick-a.from-1]
		}
		if len(s.sum.Sections) > protocol.MaxSections {
			c.out.message.Sections = nil
		}
		dst = c.put(dst, &c.out.message)
	}
	a.sums = a.sums[:copy(a.sums, a.sums[n:])]
	return dst
}

// memory returns the bytes that a resimulation holds, but for its simulation.
func (a *resimulation) memory() int {
	if a == nil {
		return 0
	}
	n := cap(a.begin.State) + 8*cap(a.first)
	for i := range a.commands {
		n += commandBytes + len(a.commands[i].Payload)
	}
	return n
}
