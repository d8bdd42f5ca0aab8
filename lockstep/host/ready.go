package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
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

// event adds an event, of the last tick unless it names another one.
func (o *output) event(last lockstep.Tick, e Event) {
	if e.Tick == 0 {
		e.Tick = last
	}
	o.Events = append(o.Events, e)
}

// cut makes Records from bytes, which are complete now.
func (o *output) cut() {
	from := 0
	for _, end := range o.ends {
		o.Records = append(o.Records, o.bytes[from:end:end])
		from = end
	}
}

// Ready returns the work since the last call. The owner calls it after each other method, and does the work in the
// order of the fields: it appends the records, calls Persisted when they are durable, and calls Send for the peers.
// That can make more work, so the owner repeats this until a Ready is [Ready.Empty].
func (h *Host) Ready() *Ready {
	h.made, h.given = h.given, h.made
	h.made.clear()
	r := h.given
	r.cut()
	r.Position, r.Next = h.ring.Next(), h.wake.due(h.now, h.ending.Over(), h.pace)
	h.peers.markNew(&h.log, h.seats)
	r.Peers = h.peers.takeDirty(r.Peers)
	return &r.Ready
}

// Persisted tells the Host that the records before a position are durable in the log. No peer sees a record before
// that. After Fail it does nothing.
func (h *Host) Persisted(now lockstep.Time, upTo protocol.Position) {
	h.now = max(h.now, now)
	upTo = min(upTo, h.ring.Next())
	if upTo <= h.log.barrier.Persisted() || h.c.Broken() {
		return
	}
	h.log.barrier.Durable(upTo)
	h.log.barrier.Reveal(h.c.Now())
	if h.log.keyframes.Awaited() {
		h.waitingTime()
	}
	h.peers.markNew(&h.log, h.seats) // frames go before views
	due, wake := h.views.Await(h.now, h.pace.Period(), !h.ending.Over() && h.peers.read())
	if h.wake.at(wake); due {
		h.makeViews(false)
	}
}

// Fail ends the match because its log failed. No peer sees the records that are not persisted, and nothing more is
// written.
func (h *Host) Fail(now lockstep.Time, err error) {
	h.now = max(h.now, now)
	if !h.c.Broken() {
		h.log.lost = h.c.Now() - h.log.persisted()
	}
	_ = h.c.BreakOff(h.Now(), err)
	if !h.ending.Over() {
		h.finish()
	}
	h.peers.scanned = 0
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
)

var eventTexts = [...]string{
	"", "joined", "resumed", "lost", "left", "taken over", "live", "synced", "closed", "refused", "desynced",
	"checks tied", "ticks skipped", "delay changed", "speed changed", "paused", "resumed", "over", "held", "referee healed", "costs time", "failed", "substitute failed", "begun", "inactive", "goes on", "panicked",
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
