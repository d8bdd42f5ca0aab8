package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Ready is the work that a Host hands to its owner. The next call of [Host.Ready] reuses its memory.
type Ready struct {
	Records  [][]byte          // to append to the match's log, in this order
	Position protocol.Position // after Records: the argument of [Host.Persisted] once they are durable
	Events   []Event
	Early    []*Evidence   // about desyncs, before the player has answered; Evidence about the same Report follows
	Evidence []*Evidence   // about desyncs; see [Options.Evidence]
	Peers    []PeerID      // to send to or to close; players first
	Next     lockstep.Time // when to call Advance, unless another method is called before
}

// Empty reports whether there is nothing to do before Next.
func (r *Ready) Empty() bool {
	return len(r.Records)+len(r.Events)+len(r.Early)+len(r.Evidence)+len(r.Peers) == 0
}

// AppendTo appends the records to a log, up to the first error.
func (r *Ready) AppendTo(log lockstep.Log) error {
	for _, b := range r.Records {
		if err := log.Append(b); err != nil {
			return err
		}
	}
	return nil
}

type (
	// Evidence is the data that a Host collects about a desync, or a panic of the rules.
	Evidence = evidence.Evidence

	// An Exhibit is one tick's state of both sides, in canonical bytes.
	Exhibit = evidence.Exhibit

	// A Flight is the record of the last ticks on one machine, as package flight writes it.
	Flight = evidence.Flight

	// A Participant is a player or spectator of a match, as its client describes it.
	Participant = evidence.Participant

	// A Resimulation is what a player whose checksum differed has computed when it was asked to compute the ticks again.
	Resimulation = evidence.Resimulation

	// A PhaseSum is a part of a tick, and the state hash at its beginning.
	PhaseSum = evidence.PhaseSum
)

// keepOutput bounds the memory that an output keeps for its next records, in bytes.
const keepOutput = 8 << 10

// An output is a Ready in the making, or the last one.
type output struct {
	Ready
	bytes []byte // of the records
	ends  []int  // of each record in bytes
}

func (o *output) clear() {
	if o.bytes = o.bytes[:0]; cap(o.bytes) > keepOutput {
		o.bytes = nil
	}
	clear(o.Early)
	clear(o.Evidence)
	o.ends, o.Records, o.Events, o.Peers = o.ends[:0], o.Records[:0], o.Events[:0], o.Peers[:0]
	o.Early, o.Evidence = o.Early[:0], o.Evidence[:0]
}

// record adds a copy of a record.
func (o *output) record(raw []byte) {
	o.bytes = append(o.bytes, raw...)
	o.ends = append(o.ends, len(o.bytes))
}

// outputs are what the machines of a match have for its owner.
type outputs struct {
	now   func() lockstep.Tick // the last one in the log
	made  *output              // since the last Ready
	given *output              // the last Ready
}

// event adds an event, of the last tick unless it names another one.
func (o *outputs) event(e Event) {
	if e.Tick == 0 {
		e.Tick = o.now()
	}
	o.made.Events = append(o.made.Events, e)
}

// cut makes Records from bytes, which are complete now.
func (o *output) cut() {
	from := 0
	for _, end := range o.ends {
		o.Records = append(o.Records, o.bytes[from:end:end])
		from = end
	}
}

// never is a time later than all others.
const never lockstep.Time = 1<<63 - 1

// An alarm is when the next timer other than a tick is due.
type alarm lockstep.Time

// at makes it due at a time, or earlier.
func (a *alarm) at(t lockstep.Time) { *a = min(*a, alarm(t)) }

// due returns when Advance is due next in a match that is over, or goes on.
func (a alarm) due(now lockstep.Time, over bool, p *pace.Pace) lockstep.Time {
	switch {
	case over:
		return lockstep.Time(a)
	case !p.Running():
		return now
	}
	return min(lockstep.Time(a), p.Due())
}

// An EventKind is the kind of an event of a hosted match.
type EventKind uint8

// The events of a Host.
const (
	PeerJoined    EventKind = 1 + iota // a player took a seat, or a spectator was welcomed
	PeerResumed                        // a player returned with a new connection
	PeerLost                           // a player's connection ended; Text is the reason
	PeerLeft                           // a player or spectator left; Text is the reason
	PeerTakenOver                      // the player did not come back in time, or gave no command; Text is the reason
	PeerLive                           // a connection has reached the present
	PeerSynced                         // a connection is sent a keyframe; Text is the reason
	PeerClosed                         // the host ended a connection; Text is the reason
	PeerRefused                        // a connection was refused
	PeerDesynced                       // a checksum differs from the agreed one
	ChecksTied                         // no checksum has a majority, and there is no referee
	TicksSkipped                       // after a stall, Number ticks were skipped
	DelayChanged                       // the input delay is Number ticks now
	SpeedChanged                       // the match runs at Number percent now
	MatchPaused
	MatchResumed
	MatchOver        // no more ticks; Text is the reason
	MatchHeld        // no ticks are sealed; Text is the reason
	RefereeHealed    // the referee, computing again, has another state at Tick, and takes it
	TimeLost         // a player costs the match time; Text says how. Number is the used part of its Rates.Pace in milliseconds
	BotFailed        // a bot panicked, or returned what is no command, and has left; Text is the error
	SubstituteFailed // the substitute of a player panicked, or returned what is no command; the seat stays idle. Text is the error
	MatchBegun       // the match has left its lobby
	PeerInactive     // a player has given no command for Number seconds, see Options.Inactive
	MatchGoesOn      // it is no longer held
	PeerPanicked     // the rules panicked on a client's machine, as it says, at Tick; Text is what it says
	WarmColdDiffer   // the referee and its cold twin differ at Tick, see Options.Heavy; Text says in what
)

var eventTexts = [...]string{
	"", "joined", "resumed", "lost", "left", "taken over", "live", "synced", "closed", "refused", "desynced",
	"checks tied", "ticks skipped", "delay changed", "speed changed", "paused", "resumed", "over", "held", "referee healed", "costs time", "failed", "substitute failed", "begun", "inactive", "goes on", "panicked", "warm and cold differ",
}

func (k EventKind) String() string { return eventTexts[k] }

// An Event is an event of a hosted match.
type Event struct {
	Kind   EventKind
	Tick   lockstep.Tick   // the last sealed one, or the checked one
	Peer   PeerID          // 0 if it does not concern a connection
	Player lockstep.Player // System for a spectator, or for no player
	Code   protocol.CloseCode
	Number int64
	Text   string

	// ByRules of MatchOver says that the rules ended the match; Result is their result as JSON, "" for none.
	ByRules bool
	Result  string

	Stack string // of BotFailed and SubstituteFailed: where the bot panicked, or ""; of PeerPanicked: as the client says
}

func (e Event) String() string {
	s := fmt.Sprintf("tick %d: ", e.Tick)
	switch {
	case e.Player != lockstep.System:
		s += fmt.Sprintf("player %d ", e.Player)
	case e.Peer != 0:
		s += "spectator "
	}
	s += e.Kind.String()
	if e.Number != 0 {
		s += fmt.Sprintf(" %d", e.Number)
	}
	if e.Code != 0 {
		s += " " + e.Code.String()
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Result != "" {
		s += ": " + e.Result
	}
	return s
}
