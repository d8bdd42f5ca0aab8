package locksteptest

import (
	"bytes"
	"fmt"
	"go/format"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Source tells how a Go test refers to a game.
type Source struct {
	Package string   // of the test file, such as "mygame_test"
	Path    string   // import path of the file's folder
	Game    string   // expression of the game, such as "lockstep.MustGame(mygame.Rules())"
	Imports []string // import paths that the expression needs, besides package lockstep

	// Replay is the name of the match's replay beside the test, as [Failure.WriteReplay] writes it. The test reads a
	// configuration of more than 1,000 characters from it. Without a name, it has every configuration itself.
	Replay string

	// Comment is more about the failure, such as its line of code: lines for the comment of the test.
	Comment string
}

// WriteTest writes a Go test that plays the match of f and fails as f does. It lists all commands, so call it on the
// result of [Failure.Shrink]. It leaves out the functions of f.Options.
func (f *Failure) WriteTest(w io.Writer, s Source) error {
	o := f.Options
	if o.Orders == nil {
		o = f.written()
	}
	lit := literals{own: s.Path, imports: slices.Clone(s.Imports)}
	if strings.HasSuffix(s.Package, "_test") {
		lit.own += "_test" // as reflection names the package of its types
	}
	lit.add("testing")
	if strings.Contains(s.Game, "lockstep.") {
		lit.add("github.com/seed-49bee653/samestep/lockstep")
	}
	lit.add("github.com/seed-49bee653/samestep/kit/locksteptest")
	body, err := f.testBody(&o, &lit, &s)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "package %s\n\nimport (\n", s.Package)
	writeImports(&text, lit.imports)
	fmt.Fprintf(&text, ")\n\n// Found by playing random matches: %s\n", oneLine(f.Error()))
	if s.Comment != "" {
		text.WriteString("//\n")
	}
	for line := range strings.Lines(s.Comment) {
		fmt.Fprintf(&text, "//\t%s\n", printable(strings.TrimRight(line, "\r\n")))
	}
	name := fmt.Sprintf("TestFound%08x", crc32.ChecksumIEEE([]byte(body)))
	fmt.Fprintf(&text, "func %s(t *testing.T) {\n\tlocksteptest.Check(t, %s, locksteptest.Options{\n%s\t})\n}\n", name, s.Game, body)
	b, err := format.Source(text.Bytes())
	if err != nil {
		return fmt.Errorf("locksteptest: test of %s: %w", s.Game, err)
	}
	_, err = w.Write(b)
	return err
}

// testBody returns the fields of the options, one per line.
func (f *Failure) testBody(o *Options, lit *literals, s *Source) (string, error) {
	var text strings.Builder
	if o.Config != nil {
		imports := lit.imports
		config, err := lit.of(o.Config)
		if s.Replay != "" && (err != nil || len(config) > longConfig) {
			lit.imports, err = imports, nil
			config = fmt.Sprintf("locksteptest.ReplayConfig(t, %s, %q)", s.Game, s.Replay)
		}
		if err != nil {
			return "", fmt.Errorf("locksteptest: configuration: %w", err)
		}
		fmt.Fprintf(&text, "\t\tConfig: %s,\n", config)
	}
	fmt.Fprintf(&text, "\t\tPlayers: %d, Ticks: %d, Every: %d, Span: %d, Redo: %d, Seed: %d,\n", o.Players, o.Ticks, o.Every, o.Span, o.Redo, o.Seed)
	if len(o.Skip) > 0 {
		fmt.Fprintf(&text, "\t\tSkip: %#v,\n", o.Skip)
	}
	text.WriteString("\t\tOrders: []locksteptest.Order{\n")
	for i := range o.Orders {
		order := &o.Orders[i]
		value, err := lit.of(order.Value)
		if err != nil {
			return "", fmt.Errorf("locksteptest: command of kind %d: %w", order.Kind, err)
		}
		c := lockstep.Command{Tick: order.Tick, Player: order.Player, Kind: order.Kind, Value: order.Value}
		if words, err := f.game.Describe(&c); err == nil && words != "" {
			fmt.Fprintf(&text, "\t\t\t// %s\n", oneLine(words))
		}
		fmt.Fprintf(&text, "\t\t\t{Tick: %d, Player: %d, Kind: %d, Value: %s},\n", order.Tick, order.Player, order.Kind, value)
	}
	text.WriteString("\t\t},\n")
	return text.String(), nil
}

// oneLine returns text on one line, for a comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// printable returns text without control characters, for a comment.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
}

// writeImports writes import paths, those of the standard library first.
func writeImports(w *bytes.Buffer, paths []string) {
	slices.Sort(paths)
	for _, standard := range [...]bool{true, false} {
		for _, path := range paths {
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") != standard {
				fmt.Fprintf(w, "\t%q\n", path)
			}
		}
		w.WriteByte('\n')
	}
}

// written returns options that play the match of f from a list of orders, without those that cannot be decoded.
func (f *Failure) written() Options {
	o := f.Options
	o.Choices, o.Play, o.Weights, o.Orders = nil, nil, nil, []Order{}
	payloads := f.game.NewPayloads() // never reset: the values stay
	for i := range f.played {
		p := &f.played[i]
		if p.system != nil {
			o.Orders = append(o.Orders, Order{Tick: p.tick, Player: p.player, Value: p.system})
			continue
		}
		c := lockstep.Command{Player: p.player, Kind: p.kind, Payload: p.payload}
		if payloads.Decode(&c) == nil {
			o.Orders = append(o.Orders, Order{p.tick, p.player, p.kind, c.Value})
		}
	}
	return o
}

// WriteReplay plays the match of f once more and writes it to w as a replay, with the checksum of every tick. If the
// game panics, the replay ends there and says so.
func (f *Failure) WriteReplay(w io.Writer) error {
	m, err := newMatch(f.game, f.Options)
	if err != nil {
		return err
	}
	m.played = f.played
	return m.write(w, "the match of a failure: "+f.Phase)
}

// ReplayConfig returns the configuration of the match in a replay: a pointer, as [Options] want it. It fails the test if it
// cannot read the file, or if the match is of another game.
func ReplayConfig(t testing.TB, g *lockstep.Game, name string) any {
	t.Helper()
	config, err := replayConfig(g, name)
	if err != nil {
		t.Fatalf("locksteptest: %s: %v", name, err)
	}
	return config
}

func replayConfig(g *lockstep.Game, name string) (any, error) {
	f, err := replay.OpenNoFollow(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Info()
	if info.Header == nil {
		return nil, err
	}
	if got, want := info.Header.Game, g.Name(); got != want {
		return nil, fmt.Errorf("got a match of game %q, want %q", got, want)
	}
	schema, err := state.ParseSchema(info.Header.ConfigSchema)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := schema.DumpJSON(&text, info.Header.Config); err != nil {
		return nil, err
	}
	return g.ReadConfig(text.Bytes(), nil)
}

// write plays the submitted commands once more and writes the match as a replay, with a reason in its end record.
func (m *match) write(w io.Writer, reason string) error {
	out := replay.NewWriter(w, replay.WriterOptions{})
	c, err := m.coordinator(out, lockstep.FollowerOptions{})
	if err != nil {
		return err
	}
	played := m.played
	for t := lockstep.Tick(1); t <= m.options.Ticks && c.Err() == nil; t++ {
		for ; len(played) > 0 && played[0].tick == t; played = played[1:] {
			o := &played[0]
			if o.system != nil {
				_ = issue(c, o.system) // with the result of the first time
			} else {
				c.Submit(o.player, o.sequence, o.kind, o.payload)
			}
		}
		if _, err := c.Tick(); err != nil {
			break // the log has it
		}
	}
	if c.Err() == nil {
		if err := c.End(reason); err != nil {
			return err
		}
	}
	return out.Close()
}
