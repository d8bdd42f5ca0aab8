package budget

import "fmt"

// A Kind is a kind of use.
type Kind uint8

// The kinds of use. Kinds up to Chat, and Offences, concern the messages of a connection; the others are costs to the match or to
// other people.
const (
	Messages Kind = iota
	Bytes
	Commands
	Chat
	Syncs
	Resyncs
	Returns
	Notes
	Keyframes
	Resimulations
	Comparisons
	Ready
	Offences
	Pace
	Kinds
)

var kindNames = [Kinds]string{
	"messages", "bytes", "commands", "chat", "syncs", "resyncs", "returns", "notes", "keyframes", "resimulations", "comparisons", "ready", "offences", "pace",
}

func (k Kind) String() string { return kindNames[k] }

// ofFlow reports whether a kind concerns the messages of a connection, and not its cost to others.
func (k Kind) ofFlow() bool { return k <= Chat || k == Offences }

// forOne reports whether a shared account has the rate of one person, because the kind costs the time of the referee, the match or
// the lobby.
func (k Kind) forOne() bool { return k == Resimulations || k == Comparisons || k == Ready || k == Pace }

// Limits are the rates of one person by kind, and the rate of notes of the whole match.
type Limits struct {
	Of    [Kinds]Rate
	Notes Rate
}

// Check returns an error if a rate is out of range.
func (r *Limits) Check() error {
	for i, rate := range append(r.Of[:], r.Notes) {
		if !rate.Valid() {
			return fmt.Errorf("rate %d: got %+v", i, rate)
		}
	}
	return nil
}
