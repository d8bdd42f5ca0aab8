package abi

import "fmt"

// Version is the version of the calls and messages. A host refuses a module with another one.
const Version = 1

// A Function is one that rules elsewhere answer.
type Function uint32

// The functions, with their input and their answer.
const (
	Describe  Function = iota // nothing; a Description as JSON
	Configure                 // a Match; nothing
	Assets                    // nothing; an AssetList
	Load                      // Contents; nothing
	Create                    // nothing; nothing
	Restore                   // a State; nothing
	Save                      // nothing; the canonical bytes of the world
	Step                      // a Frame; an Outcome
	Validate                  // a Command; nothing
	Word                      // a Command; a text for people
	View                      // the text of a viewer; the canonical bytes of its view
	ViewerOf                  // one byte, a player; the text of a viewer
	Usual                     // one byte, a number of players; the canonical bytes of a usual configuration
)

var names = [...]string{"Describe", "Configure", "Assets", "Load", "New", "Restore", "Save", "Step", "Validate", "Describe", "View", "ViewOf", "Usual"}

// String returns the name of the function, which is that of the rules' own function where they have one.
func (f Function) String() string {
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("function %d", uint32(f))
}

// A Caller is an instance of rules, with one world. It belongs to one goroutine.
type Caller interface {
	// Call returns the answer of a function, which is valid until the next call. The error is a [*Refusal] or a [*Fault].
	Call(f Function, in []byte) (out []byte, err error)

	// Close says that nobody uses the instance any more. The machine may return it from New again: Configure begins anew. Close again
	// does nothing, and Call after it returns a [*Fault].
	Close()
}

// A Machine makes instances of rules. It is safe for concurrent use.
type Machine interface {
	// New returns an instance, on which Configure has to be called before anything that needs a match.
	New() (Caller, error)
}

// A Refusal is the rules' own error, such as that of Validate.
type Refusal struct{ Text string }

func (e *Refusal) Error() string { return e.Text }

// A Fault is a panic of the rules, or the end of the machine that ran them. The instance is unusable after it.
type Fault struct {
	Text  string
	Stack string // where it was, for people; may be ""
	Limit bool   // the rules have exceeded a limit of the machine
	Wrong bool   // the answer is none that docs/spec/abi.md allows
}

func (e *Fault) Error() string { return e.Text }

// Status says what an answer is.
type Status uint8

// The statuses of an answer.
const (
	OK       Status = iota // the answer of the function
	Refused                // a text: the rules refuse
	Panicked               // a text: the rules have panicked; a line "\n\n" separates it from the stack
)
