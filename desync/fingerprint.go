package desync

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

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
	Phase   string `json:"phase,omitempty"`  // the part of Step, if a line of code is known; of recordings, the first phase or the draws that differ
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
// known, and then the section counts. The phase may be "".
func NewFingerprint(game string, class Class, section, path, phase string) Fingerprint {
	f := Fingerprint{Game: game, Class: class, Section: words.Clipped(section, MaxName), Phase: phase}
	if path != "" {
		f.Field = diff.Kind(path)
		f.Section, _, _ = strings.Cut(f.Field, ".")
		f.Section = strings.TrimSuffix(f.Section, "[]")
	}
	f.seal()
	return f
}

// A Case is one desync, for a triage.
type Case struct {
	Name        string    // of its file
	Next        string    // the command that looks at it; "" for none
	Files       int       // that it was found in; 0 means 1
	Written     time.Time // when the file was written; zero if that is not known
	Fingerprint Fingerprint
	Party       Party
	First       Span // the first divergent tick
	Machines    []Machine
	Groups      []Group // who reported what at the first check that differs, if that is known
}

// A Machine is one that computed the match.
type Machine struct {
	Match, Who      string // a machine with both, and with this build and platform, counts once in a group; without a Match, in each case
	Build, Platform string
	Differs         bool   // the verdict names it; of a panic, its rules panicked
	Sources         string // as in a header; "" if they are not known
}

// Case returns the explanation as a case of a file.
func (e *Explanation) Case(name string, written time.Time) Case {
	c := Case{Name: name, Written: written, Fingerprint: e.Fingerprint, Party: e.Verdict.Party, First: e.First, Groups: e.Groups}
	if e.Panic != nil && !e.Panic.Again {
		c.Party = WrongUnknown
	}
	if e.Twin != nil && e.Verdict.Grade == GradeUnknown || e.Fingerprint.Class == ClassUnstable && !e.Verdict.Simulated {
		c.Party = WrongUnknown // its own results differ, too: votes do not show that it is the only one
	}
	for i := range e.Who {
		w := &e.Who[i]
		wrong := w.Differs && e.Panic != nil || c.Party == WrongPlayer && slices.Contains(e.Verdict.Players, w.Player)
		c.Machines = append(c.Machines, Machine{e.Match, fmt.Sprint(w.Player), cmp.Or(w.Build, e.Build), w.Platform, wrong, w.Sources})
	}
	if slices.ContainsFunc(e.Groups, func(g Group) bool { return g.Referee }) {
		m := Machine{Match: e.Match, Build: e.Build, Platform: e.Recorder, Differs: e.Verdict.Party == WrongReferee}
		if len(e.Programs) > 0 { // the recorder is the first
			m.Sources = e.Programs[0].Sources.String()
		}
		c.Machines = append(c.Machines, m)
	}
	return c
}

// Case returns the difference as a case of a file for a triage. It returns false if nothing differs.
func (m *Imported) Case(name string, written time.Time) (Case, bool) {
	if len(m.Groups) == 0 {
		return Case{}, false
	}
	c := Case{Name: name, Written: written, Party: WrongUnknown, Groups: m.Groups, First: Span{0, m.First}}
	if m.known {
		c.First.From = m.agreed + 1
	}
	class := ClassUnknown
	if m.First == 0 {
		class = ClassBeginning
	}
	c.Fingerprint = NewFingerprint(m.header.Game, class, append(slices.Clone(m.Sections), "")[0], "", "")
	for _, g := range m.Groups {
		for range g.Players {
			c.Machines = append(c.Machines, Machine{Build: m.header.Build, Platform: m.header.Platform})
		}
	}
	return c, true
}

// A LeftOut is a file that was not compared, or that counts with another one.
type LeftOut struct {
	Name string `json:"file"`
	Why  string `json:"why"`
	Lone bool   `json:"-"` // nothing of it was compared
}

// maxFrames is how many functions of a stack are shown, and count for the fingerprint of a panic.
const maxFrames = 4

// A stackFrame is a function of a stack, and the place in it, such as rules/rules.go:92, or "".
type stackFrame struct{ function, place string }

func (f stackFrame) String() string {
	if f.place == "" {
		return f.function
	}
	return f.function + " at " + f.place
}

// stackFrames returns the functions of the rules at the top of a stack, the innermost first. The stack is that of a Go program, or of a
// module of rules.
func stackFrames(stack string) (all []stackFrame) {
	own := false // the last line with a function has one of the rules
	for line := range strings.Lines(stack) {
		name := frameName(line)
		if at := sourceLine.FindStringSubmatch(line); at != nil && own && all[len(all)-1].place == "" {
			all[len(all)-1].place = words.Clipped(at[1], MaxName)
		}
		if name == "" {
			continue
		}
		switch own = false; {
		case aboveRules.MatchString(name):
		case engineFrame.MatchString(name):
			if len(all) > 0 {
				return all // it has called the rules
			}
		case len(all) == maxFrames:
			return all
		default:
			own, all = true, append(all, stackFrame{function: name})
		}
	}
	return all
}

// functionsOf returns the functions of the rules at the top of a stack without their places, which differ between machines and builds with
// the same bug.
func functionsOf(stack string) (all []string) {
	for _, f := range stackFrames(stack) {
		all = append(all, f.function)
	}
	return all
}

var (
	// aboveRules matches what the runtime of Go calls on a panic.
	aboveRules = regexp.MustCompile(`^(panic$|runtime[./]|internal/runtime[./])`)

	// engineFrame matches the functions of the engine around the rules. In WebAssembly their names have no slashes.
	engineFrame = regexp.MustCompile(`^github\.com.seed.49bee653.samestep.lockstep[./_]`)

	// sourceLine matches the place of a function, on a line of its own. Of the path it takes the end.
	sourceLine = regexp.MustCompile(`^\t.*?([^/\t]*/?[^/\t]+:\d+)( \+0x[0-9a-f]+)?(:\d+)?\r?\n?$`)
)

// frameName returns the function of a line of a stack, or "".
func frameName(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if sourceLine.MatchString(line) || strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(line, "created by ") {
		return ""
	}
	name := strings.TrimSpace(line)
	if i := strings.LastIndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	return words.Clipped(name, MaxName)
}

// ClassPanic: the rules panicked. Its fingerprint has the functions at the top of the stack.
const ClassPanic Class = "panic of the rules"

// digitsIn matches numbers in what rules panic with, such as an index.
var digitsIn = regexp.MustCompile(`(0x[0-9a-f]+|\d+)`)

// panicFingerprint returns the fingerprint of a panic: of the functions at the top of its stack, or without a stack of what it says, without
// numbers.
func panicFingerprint(game, text, stack string) Fingerprint {
	f := Fingerprint{Game: game, Class: ClassPanic, Frames: strings.Join(functionsOf(stack), ", called by ")}
	if f.Frames == "" {
		f.Frames = "no stack: " + words.Clipped(digitsIn.ReplaceAllString(text, "#"), MaxName)
	}
	f.seal()
	return f
}
