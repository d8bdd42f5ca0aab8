package desync

import (
	"regexp"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/replay"
)

// maxFrames is how many functions of a stack are shown, and count for the fingerprint of a panic.
const maxFrames = 4

// stackFrames returns the functions of the rules at the top of a stack, the innermost first: without arguments, addresses and lines, which
// differ between machines and builds with the same bug. The stack is that of a Go program, or of a module of rules.
func stackFrames(stack string) (all []string) {
	for line := range strings.Lines(stack) {
		name := frameName(line)
		switch {
		case name == "" || aboveRules.MatchString(name):
		case engineFrame.MatchString(name):
			if len(all) > 0 {
				return all // it has called the rules
			}
		default:
			if all = append(all, name); len(all) == maxFrames {
				return all
			}
		}
	}
	return all
}

var (
	// aboveRules matches what the runtime of Go calls on a panic.
	aboveRules = regexp.MustCompile(`^(panic$|runtime[./]|internal/runtime[./])`)

	// engineFrame matches the functions of the engine around the rules. In WebAssembly their names have no slashes.
	engineFrame = regexp.MustCompile(`^github\.com.seed.49bee653.samestep.lockstep[./_]`)

	// sourceLine matches the place of a function, on a line of its own.
	sourceLine = regexp.MustCompile(`^\t.*:\d+( \+0x[0-9a-f]+)?(:\d+)?$`)
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
	return clipped(name, maxTriageName)
}

// claimed returns the panic that a bundle is about, with what a verification of its replay has met.
func claimed(m *replay.Manifest, v *replay.Verification) *replay.Panic {
	p := &replay.Panic{Tick: m.Tick, Where: m.Panic.Where, Text: m.Panic.Text, Stack: m.Panic.Stack, Recorded: true, Computed: v.Ticks >= m.Tick}
	if own := v.Panic; own != nil && own.Tick == p.Tick {
		p.Commands, p.Computed, p.Again, p.Here = own.Commands, own.Computed, own.Again, own.Here
	}
	return p
}

// addPanic describes a panic of the rules.
func addPanic(p *words.Page, x *replay.Panic) {
	p.Line("panic", "%s", x.Error())
	for i, name := range stackFrames(x.Stack) {
		p.Line(words.First("in", i), "%s", name)
	}
}
