package locksteptest

import (
	"bytes"
	"fmt"
	"go/format"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Source says how a Go test names a game.
type Source struct {
	Package string   // of the test file: "mygame_test"
	Path    string   // the import path of the folder that the file is for
	Game    string   // the game as an expression: "lockstep.MustGame(mygame.Rules())"
	Imports []string // what that expression needs, beside package lockstep
}

// WriteTest writes a Go test that plays the match of f and fails as f does. Its commands are written down, so f is best
// a failure that [Failure.Shrink] has returned. Functions of f.Options are left out.
func (f *Failure) WriteTest(w io.Writer, s Source) error {
	o := f.Options
	if o.Orders == nil {
		o = f.written()
	}
	lit := literals{own: s.Path, imports: slices.Clone(s.Imports)}
	if strings.HasSuffix(s.Package, "_test") {
		lit.own += "_test" // as its types tell
	}
	lit.add("testing")
	if strings.Contains(s.Game, "lockstep.") {
		lit.add("github.com/seed-49bee653/samestep/lockstep")
	}
	lit.add("github.com/seed-49bee653/samestep/lockstep/locksteptest")
	body, err := f.testBody(&o, &lit)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "package %s\n\nimport (\n", s.Package)
	slices.SortStableFunc(lit.imports, compareImports)
	for i, path := range lit.imports {
		if i > 0 && isStandard(path) != isStandard(lit.imports[i-1]) {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "\t%q\n", path)
	}
	fmt.Fprintf(&text, ")\n\n// Found by playing random matches: %s\n", oneLine(f.Error()))
	name := fmt.Sprintf("TestFound%08x", crc32.ChecksumIEEE([]byte(body)))
	fmt.Fprintf(&text, "func %s(t *testing.T) {\n\tlocksteptest.Check(t, %s, locksteptest.Options{\n%s\t})\n}\n", name, s.Game, body)
	b, err := format.Source(text.Bytes())
	if err != nil {
		return fmt.Errorf("locksteptest: test of %s: %w", s.Game, err)
	}
	_, err = w.Write(b)
	return err
}

// testBody returns the fields of the options, one to a line.
func (f *Failure) testBody(o *Options, lit *literals) (string, error) {
	var text strings.Builder
	if o.Config != nil {
		config, err := lit.of(o.Config)
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

// oneLine returns text as it can stand in a comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// compareImports sorts those of the standard library before all others.
func compareImports(a, b string) int {
	if isStandard(a) != isStandard(b) {
		if isStandard(a) {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}
