package record

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
)

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
	EventTwin       = "twin"
)

// An EventType describes the events of one name.
type EventType struct {
	Name    string
	Seat    bool   // it is about a seat; otherwise about the match, and Record.Player is System
	By      string // who writes it: "host", the "server" around it, or "import"
	LogOnly bool   // only the log has it, and no peer gets it
	Plain   bool   // its text is never of people
	Meaning string // of the text, for docs/spec/replay.md
}

// EventTypes returns the registry of events. A name without a dot belongs to it, and readers skip those that they do not know.
func EventTypes() []EventType { return slices.Clone(eventTypes) }

var eventTypes = []EventType{
	{EventPresence, true, "host", false, true, "`bot`: a bot of the server has the seat. While no tick is sealed, and in a `state_sync`, also `vacant`, `here`, `away`, `taken over`"},
	{EventReason, true, "host", false, false, "why the player's presence changes in the next tick, such as a kick"},
	{EventInactive, true, "host", false, true, "the player has given no command for a long time"},
	{EventPace, true, "host", false, false, "how the match waits or is slower because of the player"},
	{EventVote, true, "host", false, false, "how many players want to kick this one"},
	{EventSubstitute, true, "host", false, false, "`from command N`: from sequence N on a bot or the server's program gives the seat's commands. `to command N`: the player is back, and N was the last of them"},
	{EventReferee, false, "host", false, true, "the server's state was wrong: checksums and keyframes since the last check on which all agreed may be wrong. Mismatches are the players'"},
	{EventResumed, false, "host", false, true, "the match was interrupted and recovered here: later ticks that somebody had seen are lost"},
	{EventSuspended, false, "host", false, true, "a server that stopped suspended the match here: no tick is lost"},
	{EventLineage, false, "host", false, false, "before the first tick: JSON with `match` (32 digits), `name`, `tick`, and `content_hash` up to it (64 digits), of the match in whose state this one began"},
	{EventDisclosure, false, "server", true, false, "after the first state: who may see what while the match runs, such as `players=all delay=0`. `players=views`: only the operator gets a state, a record or the seed. `delay`: spectators' delay in ticks. A mirror passes on no more, and nothing of a log without it"},
	{EventRules, false, "server", true, false, "the SHA-256 of the module with the rules. The first one counts, in the first 100 ticks, unless there are rules in a block"},
	{EventOptions, false, "server", true, false, "how the match was created, in its creator's words"},
	{EventPaused, false, "server", true, false, "`yes` or `no`: an admin has paused the match. No tick has this pause"},
	{EventClaim, true, "server", true, false, "whose seat it is: the first half of the SHA-256 of the match id and the subject of the player's token"},
	{EventInvitation, true, "server", true, false, "the SHA-256 of a token that the server has drawn for the seat"},
	{EventReserved, true, "host", true, false, "who alone may take it: a hash as in `claim`, of the subject or name"},
	{EventTwin, false, "host", true, false, "`warm and cold differ` at a tick, and in which field: the server's state is not what a state restored just before leads to"},
	{EventReports, true, "import", true, false, "`yes` or `no`: from the next check on the player reports checksums, or none"},
}

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

// A Lineage says in which state of which match, its parent, another match began. It is the text of [EventLineage].
type Lineage struct {
	Content string `json:"content_hash"` // of the parent's log up to Tick: a SHA-256 hash, in 64 hexadecimal digits
	Match   string `json:"match"`        // the parent's id, in 32 hexadecimal digits
	Name    string `json:"name"`         // the parent's name on its server, or of its file
	Tick    Tick   `json:"tick"`
}

// Text returns the text of the event.
func (l Lineage) Text() string {
	l.Name = pack.Clip(l.Name, MaxName)
	b, err := json.Marshal(l)
	if err != nil {
		panic(err) // texts and a number have a JSON form
	}
	return string(b)
}

// ParseLineage reads the text of [EventLineage].
func ParseLineage(text string) (l Lineage, err error) {
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return Lineage{}, fmt.Errorf("lockstep: lineage: %w: %w", ErrMalformed, err)
	}
	for _, f := range []struct {
		name, got string
		digits    int
	}{{"content_hash", l.Content, 64}, {"match", l.Match, 32}} {
		if _, err := hex.DecodeString(f.got); err != nil || len(f.got) != f.digits {
			return Lineage{}, fmt.Errorf("lockstep: lineage: %w: %s: got %q, want %d hexadecimal digits", ErrMalformed, f.name, pack.Clip(f.got, MaxName), f.digits)
		}
	}
	if err := CheckName("name", l.Name); err != nil {
		return Lineage{}, fmt.Errorf("lockstep: lineage: %w: %w", ErrMalformed, err)
	}
	return l, nil
}

// RulesSum returns the sum in an event [EventRules], or "" for any other record.
func (r *Record) RulesSum() string {
	if r.Event != EventRules || !IsAssetSum(r.Text) {
		return ""
	}
	return r.Text
}
