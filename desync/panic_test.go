package desync

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// nativeStack is the stack of a panic in two functions of a game, called by the engine, on a machine.
const nativeStack = `goroutine 55 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/seed-49bee653/samestep/lockstep.panicked(0x52, {0x193723d, 0x4}, {0x1850d40, 0x3844c2d2dbc0})
	/opt/engine/lockstep/panic.go:44 +0xe6
github.com/seed-49bee653/samestep/lockstep.(*Simulation).recovered(0x3844c2bcc420, {0x193723d, 0x4}, 0x3844c2cedb38)
	/opt/engine/lockstep/simulation.go:205 +0x72
panic({0x1850d40?, 0x3844c2d2dbc0?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
example.com/hold/rules.(*World).dig(0x0?, {0x1, 0x2}, 0x3844c2cedb30?)
	/opt/ada/hold/rules/rules.go:98 +0x28d
example.com/hold/rules.step(...)
	C:/hold/rules/rules.go:60
github.com/seed-49bee653/samestep/lockstep.(*worldOf[...]).step(...)
	/opt/engine/lockstep/world.go:72
example.com/hold/main.loop(0x1)
	/opt/ada/hold/main.go:9 +0x1
created by example.com/hold/main.main in goroutine 1
	/opt/ada/hold/main.go:5 +0x1
`

// The functions of the rules at the top of a stack, and no others.
func TestStackFrames(t *testing.T) {
	const dig, step = "example.com/hold/rules.(*World).dig", "example.com/hold/rules.step"
	for name, c := range map[string]struct {
		stack string
		want  []string
	}{
		"native":     {nativeStack, []string{dig, step}},
		"a C module": {"\tdig(i32,i32)\n\t\t/opt/ada/pebbles.c:40:3\n\tstep(i32)\n\tsamestep_call(i32,i32) i64", []string{"dig", "step", "samestep_call"}},
		"a module in Go": {"\truntime.panicIndex()\n\texample.com_hold_rules.step(i32) i32\n\tgithub.com_seed_49bee653_samestep_lockstep.__Simulation_.run(i32) i32\n\tmain.main(i32)",
			[]string{"example.com_hold_rules.step"}},
		"many":                        {"a.a()\n\tx.go:1\na.b()\na.c()\na.d()\na.e()\n", []string{"a.a", "a.b", "a.c", "a.d"}},
		"nothing":                     {"", nil},
		"a panic of the engine alone": {"goroutine 1 [running]:\npanic(0)\ngithub.com/seed-49bee653/samestep/lockstep.(*Turn).End()\n", nil},
	} {
		if got := functionsOf(c.stack); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Each function has the end of its place, if the stack has it.
func TestPlacesOfStack(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{nativeStack, "[example.com/hold/rules.(*World).dig at rules/rules.go:98 example.com/hold/rules.step at rules/rules.go:60]"},
		{"\tdig(i32,i32)\n\t\t/opt/ada/pebbles.c:40:3\n\tstep(i32)\n", "[dig at ada/pebbles.c:40:3 step]"},
		{"a.a()\n\tx.go:1\na.b()\na.c()\na.d()\n\tz.go:4\na.e()\n\ty.go:2\n", "[a.a at x.go:1 a.b a.c a.d at z.go:4]"},
	} {
		if got := fmt.Sprint(stackFrames(c.stack)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// The fingerprint of a panic is the same on other machines, with other arguments and lines, and another one in another function.
func TestPanicFingerprint(t *testing.T) {
	id := panicFingerprint("hold", "index out of range [81] with length 13", nativeStack).ID
	for name, c := range map[string]struct {
		text, stack string
		same        bool
	}{
		"another index":                {"index out of range [7] with length 9", nativeStack, true},
		"another line and other words": {"boo", strings.NewReplacer("rules.go:98 +0x28d", "rules.go:120 +0x30", "/opt/ada", "/srv", "0x3844", "0x99", "goroutine 55", "goroutine 7").Replace(nativeStack), true},
		"another function":             {"index out of range [81] with length 13", strings.Replace(nativeStack, ".dig(", ".walk(", 1), false},
		"another caller":               {"index out of range [81] with length 13", strings.Replace(nativeStack, "rules.step(", "rules.turn(", 1), false},
		"no stack":                     {"index out of range [81] with length 13", "", false},
	} {
		if got := panicFingerprint("hold", c.text, c.stack); (got.ID == id) != c.same || got.Class != ClassPanic {
			t.Errorf("%s: got %s, want the same as %s: %t", name, got, id, c.same)
		}
	}
	a, b := panicFingerprint("hold", "index [81] of 0xff", ""), panicFingerprint("hold", "index [7] of 0x1", "")
	if other := panicFingerprint("hold", "nil map", ""); a != b || a == other {
		t.Errorf("without a stack: got %s and %s, want the same, and %s another one", a, b, other)
	}
	if text := fmt.Sprint(panicFingerprint("hold", "x", nativeStack)); !strings.HasSuffix(text, "hold, panic of the rules, example.com/hold/rules.(*World).dig, called by example.com/hold/rules.step") {
		t.Errorf("got %s", text)
	}
}
