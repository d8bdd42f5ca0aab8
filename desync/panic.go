package desync

import (
	"regexp"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

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

// inDerive is where a [lockstep.PanicError] says that the rules panicked when they got a state.
const inDerive = "Derive"

// isComputed reports whether the tick of a panic, computed again, has what panicked.
func isComputed(where string) bool {
	return where == record.InStep || where == record.InValidate
}

// claimed returns the panic that a bundle is about, with what a verification of its replay has met.
func claimed(m *replay.Manifest, v *replay.Verification) *replay.Panic {
	p := &replay.Panic{Tick: m.Tick, Where: m.Panic.Where, Text: m.Panic.Text, Stack: m.Panic.Stack, Recorded: true, Computed: v.Ticks >= m.Tick && isComputed(m.Panic.Where), Passed: passed(m, v.Header, v.Ticks)}
	if own := v.Panic; own != nil && own.Tick == p.Tick {
		p.Commands, p.Computed, p.Again, p.Here = own.Commands, own.Computed, own.Again, own.Here
	}
	return p
}

// passed reports whether the server computed the tick in which a player's rules panicked: a frame is in the log only after that.
func passed(m *replay.Manifest, h *lockstep.Header, last lockstep.Tick) bool {
	return m.Player != lockstep.System && !h.Settings.Relay && last >= m.Tick
}

// addPanic describes a panic of the rules.
func addPanic(p *words.Page, x *replay.Panic) {
	p.Line("panic", "%s", x.Error())
	for i, f := range stackFrames(x.Stack) {
		p.Line(words.First("in", i), "%s", f)
	}
}
