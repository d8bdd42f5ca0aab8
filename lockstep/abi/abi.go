// Package abi has the messages between the engine and rules that run elsewhere, such as in a WebAssembly module. They are
// specified in docs/spec/abi.md.
//
// A [Machine] makes instances of such rules, and lockstep.NewGameElsewhere makes a game of it. Each instance has one world. It
// answers one call at a time: a [Function], and bytes in and out. All messages are canonical bytes, as package state describes
// them, but for the description of the rules, which is JSON.
//
//samestep:deterministic
package abi

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

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

	// Close says that nobody uses the instance any more: New may return it again. Close again does nothing; Call then returns a [*Fault].
	Close()
}

// A Machine makes instances of rules. It is safe for concurrent use. One whose New may return an instance that was used before has a method
// Unused, too, which is New for one that was not.
type Machine interface {
	// New returns an instance, on which Configure has to be called before anything that needs a match.
	New() (Caller, error)
}

// Unused returns an instance that nobody has used: what it keeps outside of its world, such as a variable, is as at the beginning.
func Unused(m Machine) (Caller, error) {
	if u, ok := m.(interface{ Unused() (Caller, error) }); ok {
		//samestep:allow unseen the machine that runs rules elsewhere makes them deterministic
		return u.Unused()
	}
	//samestep:allow unseen as above
	return m.New()
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

// ErrUnsupported is wrapped by the error of rules with another version of the ABI.
var ErrUnsupported = errors.New("these rules need a newer samestep")

// MaxDescription is the largest description of rules, in bytes.
const MaxDescription = 1 << 20

// A Description says what rules are: the answer of [Describe], as JSON.
type Description struct {
	ABI      int            `json:"abi"` // Version
	Game     string         `json:"game"`
	Build    string         `json:"build"`
	Sources  record.Sources `json:"sources,omitzero"`
	State    Type           `json:"state"`
	Config   Type           `json:"config"`
	Commands []Kind         `json:"commands"`
	Result   Type           `json:"result,omitzero"`     // none: the rules cannot end a match
	View     Type           `json:"view,omitzero"`       // none: the rules have no views
	ViewTags []state.Tag    `json:"view_tags,omitempty"` // how the fields of a view are sent, see docs/feed.md
	Assets   bool           `json:"assets,omitempty"`
	Words    bool           `json:"words,omitempty"`            // the rules describe commands in words
	SelfTest uint64         `json:"self_test,string,omitempty"` // what the rules' own test has given
}

// A Kind is a kind of command.
type Kind struct {
	Kind    record.CommandKind `json:"kind"`
	Name    string             `json:"name"`
	Payload Type               `json:"payload"`
	Limit   int                `json:"limit,omitempty"` // commands of a player in the time Per; 0: any number
	Per     record.Time        `json:"per_us,string,omitempty"`
}

// A Type is a schema in a description: a struct of Go as text, see [state.ParseType], or the hexadecimal digits of
// [state.Schema.AppendDescription], which also has the fraction bits of fixed-point numbers.
type Type struct{ *state.Schema }

// MarshalText returns the hexadecimal digits of the schema.
func (t Type) MarshalText() ([]byte, error) {
	if t.Schema == nil {
		return nil, errors.New("want a schema")
	}
	return hex.AppendEncode(nil, t.AppendDescription(nil)), nil
}

// UnmarshalText reads one of the two forms.
func (t *Type) UnmarshalText(text []byte) (err error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "struct") {
		t.Schema, err = state.ParseType(string(text))
		return err
	}
	b, err := hex.DecodeString(string(text))
	if err != nil {
		return fmt.Errorf("got a type that is neither \"struct {…}\" nor hexadecimal digits")
	}
	t.Schema, err = state.ParseSchema(b)
	return err
}

// Schemas returns the schemas of all types.
func (d *Description) Schemas() (all []*state.Schema) {
	types := []Type{d.State, d.Config, d.Result, d.View}
	for _, k := range d.Commands {
		types = append(types, k.Payload)
	}
	for _, t := range types {
		if t.Schema != nil {
			all = append(all, t.Schema)
		}
	}
	return all
}

// ParseDescription reads the answer of [Describe]. An unknown key is an error, and another version is [ErrUnsupported].
func ParseDescription(text []byte) (*Description, error) {
	if len(text) > MaxDescription {
		return nil, fmt.Errorf("got a description of %d bytes, want at most %d", len(text), MaxDescription)
	}
	var version struct {
		ABI *int `json:"abi"`
	}
	d := new(Description)
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	if version.ABI == nil {
		return nil, fmt.Errorf("description: got no version, want %d", Version)
	}
	if *version.ABI != Version {
		return nil, fmt.Errorf("%w: got version %d of docs/spec/abi.md, want %d", ErrUnsupported, *version.ABI, Version)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(d); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	if d.State.Schema == nil || d.Config.Schema == nil {
		return nil, errors.New("description: want the types of state and config")
	}
	for _, k := range d.Commands {
		if k.Payload.Schema == nil {
			return nil, fmt.Errorf("description: command %d: want the type of its payload", k.Kind)
		}
	}
	return d, nil
}

// A Match says which match an instance runs: of its settings, those that reach the simulation.
type Match struct {
	Seed       uint64
	Players    uint8
	TickMicros uint32
	Config     []byte // canonical bytes
}

// AssetList is the list of the assets of a match, see [record.Asset].
type AssetList struct{ Assets []record.Asset }

// Contents are the contents of the assets, in the order of their list.
type Contents struct{ Contents []Content }

// A Content is that of one asset.
type Content struct{ Bytes []byte }

// A State is the world of a tick.
type State struct {
	Tick      uint32
	Canonical []byte
}

// A Command is one of a player or of the engine, see [record.Command].
type Command struct {
	Tick     uint32
	Player   uint8
	Kind     uint16
	Sequence uint32
	Payload  []byte // canonical bytes
}

// A Frame is all commands of one tick, in canonical order.
type Frame struct {
	Tick     uint32
	Draws    bool // the outcome has the draws
	Phases   bool // the outcome has the phases
	Commands []Command
}

// An Outcome is what a step has made, apart from the world.
type Outcome struct {
	Ended  bool    // by the rules
	Result []byte  // canonical bytes; none without a result
	Draws  []Draw  // in order
	Phases []Phase // in order
}

// An Answer is that of a step that refused commands: a step that refused none answers with an Outcome alone.
type Answer struct {
	Outcome  Outcome
	Refusals []CommandRefusal // of commands of players, in the order of the frame
}

// A CommandRefusal tells a player why the rules refused a command of the frame.
type CommandRefusal struct {
	Player   uint8
	Sequence uint32
	Reason   string
}

// A Draw is a use of randomness.
type Draw struct {
	Purpose string
	Entity  uint32
	Phase   string
}

// A Phase is a part of the step, with the checksum of the world at its beginning.
type Phase struct {
	Name     string
	Hash     uint64
	Sections []uint64
}

// The codecs of the messages.
var (
	Matches  = state.MustCompile[Match]()
	Lists    = state.MustCompile[AssetList]()
	Loads    = state.MustCompile[Contents]()
	States   = state.MustCompile[State]()
	Commands = state.MustCompile[Command]()
	Frames   = state.MustCompile[Frame]()
	Outcomes = state.MustCompile[Outcome]()
	Answers  = state.MustCompile[Answer]()
)
