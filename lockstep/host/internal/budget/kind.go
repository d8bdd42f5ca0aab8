package budget

import "fmt"

// A Kind is a kind of use.
type Kind uint8

// The kinds of use. Up to Chat, and for Offences, they are of a connection's own messages; the others cost the match or other people.
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

// ofFlow reports whether a kind counts for a connection's own messages, and not for its cost to others.
func (k Kind) ofFlow() bool { return k <= Chat || k == Offences }

// forOne reports whether a shared account has a single person's rate: of the referee's time, of the match's and of the lobby's.
func (k Kind) forOne() bool { return k == Resimulations || k == Comparisons || k == Ready || k == Pace }

// Limits are the rates of one person, by kind, and that of the notes of all people of a match together.
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
