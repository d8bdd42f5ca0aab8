package record

import "slices"

// The events of format 1, see [EventTypes].
const (
	EventPresence   = "presence"
	EventReason     = "reason"
	EventInactive   = "inactive"
	EventPace       = "pace"
	EventVote       = "vote"
	EventSubstitute = "substitute"
	EventReferee    = "referee"
	EventResumed    = "resumed"
	EventSuspended  = "suspended"
	EventLineage    = "lineage"
	EventDisclosure = "disclosure"
	EventRules      = "rules"
	EventOptions    = "options"
	EventPaused     = "paused"
	EventClaim      = "claim"
	EventInvitation = "invitation"
	EventReserved   = "reserved"
	EventReports    = "reports"
)

// An EventType describes the events of one name.
type EventType struct {
	Name    string
	Seat    bool   // it is about a seat; otherwise about the match, and Record.Player is System
	By      string // who writes it: "host", the "server" around it, or "import"
	LogOnly bool   // only the log has it, and no peer gets it
	Plain   bool   // its text is never of people
	Meaning string // of the text, for docs/replay-format.md
}

// EventTypes returns the registry of events. A name without a dot belongs to it, and readers skip those that they do not know.
func EventTypes() []EventType { return slices.Clone(eventTypes) }

var eventTypes = []EventType{
	{EventPresence, true, "host", false, true, "`bot`: a bot of the server has the seat. While no tick is sealed, and in a `state_sync`, also `vacant`, `here`, `away` and `taken over`"},
	{EventReason, true, "host", false, false, "why the presence of the seat's player changes in the next tick: a kick, a lost connection, a time that is over. Without it, a player has left, or the connection was cut"},
	{EventInactive, true, "host", false, true, "the player has given no command for a long time, by the policy of the match"},
	{EventPace, true, "host", false, false, "because of this player the match waits, is slower, or has a longer input delay; or it does not wait for this player for a while"},
	{EventVote, true, "host", false, false, "how many players want to kick this one"},
	{EventSubstitute, true, "host", false, false, "`from command N`: the commands of the seat from the sequence N on are those of a bot, or of the server's program, because the seat is taken over. `to command N`: the player is back, and N is the last of them"},
	{EventReferee, false, "host", false, true, "the server's own state was wrong, and was re-simulated: checksums and keyframes before the event, since the last check on which all agreed, may be wrong. Nothing replaces them; the mismatches before the event have the players' state hashes"},
	{EventResumed, false, "host", false, true, "the match was interrupted and recovered here: later ticks that somebody had seen are lost"},
	{EventSuspended, false, "host", false, true, "a server that stopped suspended the match here: no tick is lost"},
	{EventLineage, false, "host", false, false, "stands before the first tick: the match began in a state of another one. JSON with `match` (its id, 32 hexadecimal digits), `name`, `tick`, and `content_hash`, its content hash up to that tick (64 hexadecimal digits)"},
	{EventDisclosure, false, "server", true, false, "who may see what of the match while it runs: `players=all delay=0`. `views` means that players and spectators get views, and nobody but the operator a state, a record or the seed; spectators are so many ticks late. It stands after the first state, and holds for the whole match. A relay passes on no more of a running match, and nothing of a log without it"},
	{EventRules, false, "server", true, false, "the SHA-256, in hexadecimal, of the module with the rules of the match. It stands in the first 100 ticks, and the first one counts. Rules in a block count more"},
	{EventOptions, false, "server", true, false, "how the match was created, in the words of its creator"},
	{EventPaused, false, "server", true, false, "whether an admin has paused the match: `yes` or `no`. No tick has this pause"},
	{EventClaim, true, "server", true, false, "whose seat it is: the first half, in hexadecimal, of the SHA-256 hash of the match id and the subject of the player's token, which names no seat"},
	{EventInvitation, true, "server", true, false, "the SHA-256 hash, in hexadecimal, of a token that the server has drawn for the seat"},
	{EventReserved, true, "host", true, false, "the only player who may take it: a hash as in `claim`, of the player's subject or name"},
	{EventReports, true, "import", true, false, "`yes` or `no`: from the next check on the player reports checksums, or none"},
}

// eventType returns the type of an event, or nil for none.
func eventType(name string) *EventType {
	i := slices.IndexFunc(eventTypes, func(t EventType) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &eventTypes[i]
}

// LogOnly reports whether only the log has a record, and no peer gets it: a panic, or some events.
func (r *Record) LogOnly() bool {
	if r.Kind == KindEvent {
		t := eventType(r.Event)
		return t != nil && t.LogOnly
	}
	return r.Kind == KindPanic
}

// Plain reports whether a note or an event has no text of people: it says who is ready, or is an event without such a text.
func (r *Record) Plain() bool {
	if r.Kind == KindEvent {
		t := eventType(r.Event)
		return t != nil && t.Plain
	}
	return r.Kind == KindNote && r.Topic == TopicReady
}
