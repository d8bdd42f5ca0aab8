package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Evidence is the data that a Host collects about a desync, or a panic of the rules.
type Evidence struct {
	Report       coordinator.DesyncReport
	Participants []Participant

	// Began is the tick of the last state that the player was sent before the reported tick; 0 if unknown. At that tick
	// both sides were equal.
	Began lockstep.Tick

	// Exhibits are the states of the last checked tick at which the player agreed, if there is one, and of the first
	// one at which it differed.
	Exhibits []Exhibit

	// Panic is why the rules ended the match, or on the machine of Report.Player, as it says; nil of a desync. Its frame is in the log.
	Panic *record.Panic

	// Resimulation is what the player computed when it was asked to compute the ticks again; nil if it did not. Exhibits
	// then has its first tick that was wrong, too, with the player's state as it computed it again.
	Resimulation *Resimulation

	// Commands are the commands of the ticks after the agreed one up to the reported one, as far back as the ring
	// reaches, in canonical order.
	Commands []lockstep.Command
}

// An Exhibit is one tick's state of both sides, in canonical bytes.
type Exhibit struct {
	Tick    lockstep.Tick
	Referee []byte // nil if it is no longer kept, or there is no referee
	Player  []byte // nil if the player did not send it; untrusted

	// Hash is the checksum of the player's state, if the bytes are canonical.
	Hash uint64
}

// A Participant is a player or spectator of a match, as its client describes it.
type Participant struct {
	Player   lockstep.Player // System for a spectator
	Name     string
	Build    string
	Platform string
	Sources  string // of its program, see [record.ParseSources]; empty if not known
}

func (h *Host) participants() []Participant {
	var all []Participant
	for i := range h.seats {
		if p := h.seats[i].peer; p != nil {
			all = append(all, Participant{lockstep.Player(i), p.name, p.build, p.platform, p.sources})
		}
	}
	return all
}

func (h *Host) deliver(e *Evidence) { h.made.Evidence = append(h.made.Evidence, e) }

// inquire collects evidence about a desync. What is known already is handed out at once, since the server may crash before the
// player answers. While a player is asked for states, further reports about it are delivered
// without states.
func (h *Host) inquire(r *coordinator.DesyncReport, p *peer) {
	if !h.options.Evidence {
		return
	}
	if p != nil && p.inquiry != nil && p.inquiry.evidence != nil && p.inquiry.evidence.Report.Tick == r.Tick {
		return // the referee differed there, too, and the player is being asked
	}
	e := &Evidence{Report: *r, Participants: h.participants(), Commands: h.commands(r.Agreed, r.Tick)}
	e.Report.Groups = slices.Clone(r.Groups)
	if p != nil && p.began < r.Tick {
		e.Began = p.began
	}
	for _, t := range []lockstep.Tick{r.Agreed, r.Tick} {
		if t > 0 {
			e.Exhibits = append(e.Exhibits, Exhibit{Tick: t, Referee: h.refereeState(r, t)})
		}
	}
	if p == nil || p.inquiry != nil {
		h.deliver(e)
		return
	}
	early := *e
	early.Exhibits = slices.Clone(e.Exhibits) // the answers go into the others
	h.made.Early = append(h.made.Early, &early)
	h.begin(&inquiry{peer: p, exhibits: e.Exhibits, evidence: e, again: h.prepareAgain(r, p)})
}

// refereeState returns the referee's state of a tick at the time of a report, or nil.
func (h *Host) refereeState(r *coordinator.DesyncReport, t lockstep.Tick) []byte {
	if r.Resimulation == coordinator.RefereeWrong {
		for _, s := range r.Wrong {
			if s.Tick == t {
				return s.Bytes
			}
		}
		return nil
	}
	if referee := h.c.Referee(); referee != nil {
		return slices.Clone(referee.State(t))
	}
	return nil
}

// commands returns the commands of the ticks from+1 to to, as far back as the ring reaches.
func (h *Host) commands(from, to lockstep.Tick) []lockstep.Command {
	all, _ := h.commandsSince(from, to)
	return all
}

// hostFrames is the Host as a [coordinator.FrameSource]: it reads the ring.
type hostFrames Host

func (f *hostFrames) Frames(from, to lockstep.Tick) []lockstep.Frame {
	commands, reached := (*Host)(f).commandsSince(from, to)
	if reached > from {
		return nil
	}
	all := make([]lockstep.Frame, 0, to-from)
	for t := from + 1; t <= to; t++ {
		n := 0
		for n < len(commands) && commands[n].Tick == t {
			n++
		}
		all = append(all, lockstep.Frame{Tick: t, Commands: commands[:n]})
		commands = commands[n:]
	}
	return all
}

// commandsSince returns the commands of the ticks from+1 to to, and the tick after which the ring has them.
//
// Sequences in the log are relative to earlier ones, some of which the ring may have lost. But they add up to the
// current ones, which are known.
func (h *Host) commandsSince(from, to lockstep.Tick) (all []lockstep.Command, reached lockstep.Tick) {
	at, tick := h.ring.Next(), h.c.Now()
	for ; at > h.ring.First() && tick > from; at-- {
		if record.KindOf(h.ring.Record(at - 1)).Advances() {
			tick-- // the coordinator writes each empty tick as one record
		}
	}
	dec := record.DecoderAt(tick)
	for ; at < h.ring.Next(); at++ {
		r, _, err := dec.Decode(slices.Clone(h.ring.Record(at)))
		if err != nil {
			panic(err) // our own record
		}
		if r.Tick <= to {
			all = append(all, r.Frame.Commands...)
		}
	}
	for i := range all {
		c := &all[i]
		c.Sequence += h.c.LastLogged(c.Player) - dec.Last(c.Player)
	}
	return all, tick
}
