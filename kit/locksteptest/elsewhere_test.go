package locksteptest_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A counting machine has rules whose state is a counter, and lies where lie says so.
type counting struct {
	lie func(c *counter, f abi.Function, answer []byte) []byte // nil: it is honest
}

// New implements abi.Machine.
func (m counting) New() (abi.Caller, error) { return &counter{lie: m.lie}, nil }

type counter struct {
	lie   func(c *counter, f abi.Function, answer []byte) []byte
	n     uint32
	calls map[abi.Function]int
}

// Close implements abi.Caller.
func (c *counter) Close() {}

// Call implements abi.Caller.
func (c *counter) Call(f abi.Function, in []byte) ([]byte, error) {
	if c.calls == nil {
		c.calls = map[abi.Function]int{}
	}
	c.calls[f]++
	answer, err := c.answer(f, in)
	if c.lie != nil && err == nil {
		answer = c.lie(c, f, answer)
	}
	return answer, err
}

func (c *counter) answer(f abi.Function, in []byte) ([]byte, error) {
	switch f {
	case abi.Describe:
		return []byte(`{"abi":1,"game":"count","build":"1","state":"struct { N uint32 }","config":"struct {}","result":"struct { Won bool }","words":true,
			"commands":[{"kind":1,"name":"add","payload":"struct { By uint8 }"}]}`), nil
	case abi.Create:
		c.n = 1
	case abi.Restore:
		var s abi.State
		if err := abi.States.Decode(in, &s); err != nil {
			return nil, &abi.Refusal{Text: err.Error()}
		}
		c.n = binary.LittleEndian.Uint32(s.Canonical)
	case abi.Save:
		return binary.LittleEndian.AppendUint32(nil, c.n), nil
	case abi.Step:
		var frame abi.Frame
		if err := abi.Frames.Decode(in, &frame); err != nil {
			return nil, &abi.Fault{Text: err.Error()}
		}
		for _, command := range frame.Commands {
			if command.Kind == 1 {
				c.n += 1 + uint32(command.Payload[0])
			}
		}
		return abi.Outcomes.Append(nil, &abi.Outcome{}), nil
	case abi.Word:
		return []byte("adds"), nil
	}
	return nil, nil
}

// checked runs the checks of the harness over rules elsewhere.
func checked(t *testing.T, m abi.Machine) error {
	t.Helper()
	g, err := lockstep.NewGameElsewhere(m)
	if err != nil {
		t.Fatal(err)
	}
	_, err = locksteptest.Run(g, locksteptest.Options{Config: &record.Untyped{}, Ticks: 60, AllowThin: "a counter"})
	return err
}

// The harness finds rules that answer with the right types and other contents. Honest ones pass.
func TestLiesAreFound(t *testing.T) {
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	outcome := func(o abi.Outcome) []byte { return abi.Outcomes.Append(nil, &o) }
	for _, c := range []struct {
		name string
		lie  func(c *counter, f abi.Function, answer []byte) []byte
		want string // "": nothing is found
	}{
		{name: "honest"},
		{"restores another state", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Restore {
				c.n++
			}
			return b
		}, "follower: tick 1: N: got 12, want 11"},
		{"restores nothing", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Restore {
				c.n = 1
			}
			return b
		}, "tick"},
		{"saves another state each time", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Save {
				return number(c.n + uint32(c.calls[f]))
			}
			return b
		}, "tick"},
		{"saves a longer state later", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Save && c.calls[f] > 1 {
				return append(b, 0)
			}
			return b
		}, "new: tick 0: lockstep: tick 0: the game panicked in Save: bad answer of Save: "},
		{"saves a longer state in a later tick", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Save && c.calls[abi.Step] == 9 {
				return append(b, 0)
			}
			return b
		}, ": tick 9: lockstep: tick 9: the game panicked in Save: bad answer of Save: "},
		{"remembers calls", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Step && c.calls[f] == 20 {
				c.n += 7
			}
			return b
		}, "tick"},
		{"changes the state in Validate", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Validate {
				c.n++
			}
			return b
		}, "validate: tick 0: N: got 5, want 1"},
		{"ends with a result that does not fit", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Step && c.calls[f] == 9 {
				return outcome(abi.Outcome{Ended: true, Result: []byte{1, 2, 3}})
			}
			return b
		}, "bad answer of Step"},
		{"ends with a result that is no bool", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Step && c.calls[f] == 9 {
				return outcome(abi.Outcome{Ended: true, Result: []byte{2}})
			}
			return b
		}, "bad answer of Step"},
		{"answers a step with half an outcome", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Step {
				return b[:len(b)/2]
			}
			return b
		}, "bad answer of Step"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checked(t, counting{c.lie})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Words about a command are cut, and have no characters that control a terminal.
func TestWordsAreBounded(t *testing.T) {
	g, err := lockstep.NewGameElsewhere(counting{func(_ *counter, f abi.Function, b []byte) []byte {
		if f == abi.Word {
			return []byte("\x1b[2J\xff" + strings.Repeat("word ", 10<<20))
		}
		return b
	}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &record.Untyped{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := lockstep.NewDescriber(h, g)
	if err != nil {
		t.Fatal(err)
	}
	kind, payload, err := g.NewPayloads().Encode(&record.Untyped{Kind: 1, Canonical: []byte{3}})
	if err != nil {
		t.Fatal(err)
	}
	text := d.Describe(&lockstep.Command{Tick: 1, Player: 1, Kind: kind, Payload: payload})
	if len(text) > 5000 || strings.Contains(text, "\x1b") || strings.Contains(text, "\xff") || !strings.Contains(text, "word word") {
		t.Errorf("got %d bytes that begin with %.20q, want at most 5000 printable ones", len(text), text)
	}
}

// An unusual refusal of a function that makes a world is an error, and no panic.
func TestRefusedWorld(t *testing.T) {
	for _, f := range []abi.Function{abi.Configure, abi.Create} {
		g, err := lockstep.NewGameElsewhere(refusing{counting{}, f})
		if err != nil {
			t.Fatal(err)
		}
		h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &record.Untyped{})
		if err == nil {
			_, err = g.NewSimulation(h)
		}
		if config := (*lockstep.ConfigError)(nil); !errors.As(err, &config) || !strings.Contains(err.Error(), "no match") {
			t.Errorf("%v: got %v, want an error of the configuration", f, err)
		}
	}
}

// A refusing machine refuses one function.
type refusing struct {
	counting
	function abi.Function
}

// New implements abi.Machine.
func (m refusing) New() (abi.Caller, error) { return &refuser{function: m.function}, nil }

type refuser struct {
	counter
	function abi.Function
}

// Call implements abi.Caller.
func (c *refuser) Call(f abi.Function, in []byte) ([]byte, error) {
	if f == c.function {
		return nil, &abi.Refusal{Text: "no match"}
	}
	return c.counter.Call(f, in)
}

// choosy rules have an odd number, and refuse to restore another one.
type choosy struct{}

// New implements abi.Machine.
func (m choosy) New() (abi.Caller, error) { return &chooser{}, nil }

type chooser struct{ counter }

// Call implements abi.Caller.
func (c *chooser) Call(f abi.Function, in []byte) ([]byte, error) {
	var s abi.State
	if f == abi.Restore && abi.States.Decode(in, &s) == nil && binary.LittleEndian.Uint32(s.Canonical)%2 == 0 {
		return nil, &abi.Refusal{Text: "an even number"}
	}
	if f == abi.Step {
		c.counter.n += 2
		return abi.Outcomes.Append(nil, &abi.Outcome{}), nil
	}
	return c.counter.Call(f, in)
}

// Rules may refuse a state that no match has: here the one whose lowest bit was changed.
func TestRefusedState(t *testing.T) {
	if err := checked(t, choosy{}); err != nil {
		t.Errorf("got %v, want that a changed state may be refused", err)
	}
	// Control: they may not refuse one of the match.
	if err := checked(t, refusing{counting{}, abi.Restore}); err == nil || !strings.Contains(err.Error(), "no match") {
		t.Errorf("got %v, want the refusal", err)
	}
}
