package desync

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Class is what kind of fault a desync is, as far as its evidence tells.
type Class string

// The classes.
const (
	// ClassCommands: the states are consistent with commands that were lost, doubled, moved, or run in another order.
	ClassCommands Class = "commands"

	// ClassHidden: the machine computed the ticks again, and was right: its memory, or something outside of the state.
	ClassHidden Class = "memory or hidden state"

	// ClassRules: the machine went wrong again in the same way: its rules, its build or its platform.
	ClassRules Class = "rules, build or platform"

	// ClassUnstable: the machine had another result each time.
	ClassUnstable Class = "rules without a fixed result"

	// ClassBeginning: two recordings of another engine begin with different states.
	ClassBeginning Class = "beginning"

	// ClassUnknown: the machine did not compute the ticks again.
	ClassUnknown Class = "unknown"
)

// A Fingerprint names the cause of a desync: the same bug has the same one in other matches, and another bug mostly has
// another one. It has nothing in it of a single match, machine or build.
type Fingerprint struct {
	ID      string `json:"id"` // 8 hexadecimal digits; with a line of code, a hyphen and 4 more; "" if no class and no place is known
	Game    string `json:"game"`
	Class   Class  `json:"class"`
	Section string `json:"section"`          // the first field of the state that differs; "" if none is known
	Field   string `json:"field"`            // the field in it that differs first, without indexes, such as "Units[].Pos"; "" if none is known
	Phase   string `json:"phase,omitempty"`  // the part of Step, if a line of code is known
	Func    string `json:"func,omitempty"`   // the function of that line
	Frames  string `json:"frames,omitempty"` // of a panic: the functions at the top of its stack
}

// String returns the fingerprint as one line of text; "fingerprint unknown" for none.
func (f Fingerprint) String() string {
	if f.ID == "" {
		return "fingerprint unknown"
	}
	return fmt.Sprintf("fingerprint %s: %s", f.ID, f.About())
}

// About returns what the ID is made of, as text.
func (f Fingerprint) About() string {
	s := fmt.Sprintf("%s, %s, %s", f.Game, f.Class, cmp.Or(f.Frames, f.Field, f.Section, "no field known"))
	if f.Phase != "" {
		s += ", phase " + f.Phase
	}
	if f.Func != "" {
		s += ", in " + f.Func
	}
	return s
}

// seal sets the ID. Its first part does not depend on the line of code, so that it is the same where the sources are
// missing. Two desyncs of which neither a class nor a place is known have nothing in common, and get none.
func (f *Fingerprint) seal() {
	if f.Class == ClassUnknown && f.Section+f.Field+f.Frames+f.Phase+f.Func == "" {
		return
	}
	f.ID = digits(8, "samestep fingerprint 1", f.Game, string(f.Class), f.Section, f.Field)
	if f.Frames != "" {
		f.ID = digits(8, "samestep fingerprint 1", f.Game, string(f.Class), f.Frames)
	}
	if f.Phase != "" || f.Func != "" {
		f.ID += "-" + digits(4, f.ID, f.Phase, f.Func)
	}
}

// digits returns the first n hexadecimal digits of the hash of some words.
func digits(n int, words ...string) string {
	var b []byte
	for _, w := range words {
		b = fmt.Appendf(b, "%d:%s", len(w), w)
	}
	return fmt.Sprintf("%016x", xxhash.Sum64(b))[:n]
}

// transport are the causes that are faults of commands on their way.
var transport = []CauseKind{LostCommand, DoubledCommand, SwappedOrder, MovedCommand, OtherPlayer, LostTick, MovedTick}

// classOf returns the class of a fault: from the kind of the cause that is named, "" for none, and from what the machine
// computed again.
func classOf(cause CauseKind, again protocol.Outcome) Class {
	if slices.Contains(transport, cause) {
		return ClassCommands
	}
	switch again {
	case protocol.RightThisTime:
		return ClassHidden
	case protocol.WrongTheSameWay:
		return ClassRules
	case protocol.ThirdResult:
		return ClassUnstable
	}
	return ClassUnknown
}

// NewFingerprint returns the fingerprint of a fault. The path is that of the first field that differs, or "" if none is
// known, and then the section counts.
func NewFingerprint(game string, class Class, section, path string) Fingerprint {
	f := Fingerprint{Game: game, Class: class, Section: words.Clipped(section, MaxName)}
	if path != "" {
		f.Field = diff.Kind(path)
		f.Section, _, _ = strings.Cut(f.Field, ".")
		f.Section = strings.TrimSuffix(f.Section, "[]")
	}
	f.seal()
	return f
}
