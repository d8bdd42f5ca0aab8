package record

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// A HeaderDifference is one thing that two headers say differently.
type HeaderDifference struct {
	Field string `json:"field"` // "build", "setting seed", "configuration Size", "state schema, field Units[].Pos", …
	A     string `json:"a"`
	B     string `json:"b"`
}

// String returns the difference as one line: "build: 1 → 2".
func (d HeaderDifference) String() string { return fmt.Sprintf("%s: %s → %s", d.Field, d.A, d.B) }

// A headerField is one thing that a header says.
type headerField struct {
	name     string
	identity bool // all machines of a match have it in common
	value    any
}

// fields returns what [DiffHeaders] and [Header.CheckIdentity] compare, in order.
func (h *Header) fields() []headerField {
	s := &h.Settings
	return []headerField{
		{"protocol", true, h.Protocol},
		{"engine", true, h.Engine},
		{"game", true, h.Game},
		{"build", true, h.Build},
		{"match", false, h.Match},
		{"platform", false, h.Platform},
		{"sources", false, h.Sources},
		{"setting seed", false, s.Seed},
		{"setting players", false, s.Players},
		{"setting tick micros", false, s.TickMicros},
		{"setting check every", false, s.CheckEvery},
		{"setting keyframe every", false, s.KeyframeEvery},
		{"setting relay", false, s.Relay},
		{"configuration schema", true, schema(h.ConfigSchema)},
		{"configuration", false, config{h.ConfigSchema, h.Config}},
		{"state schema", true, schema(h.StateSchema)},
		{"number of command kinds", true, len(h.Commands)},
		{"command", true, h.Commands},
		{"result schema", true, schema(h.ResultSchema)},
	}
}

type schema []byte

type config struct{ schema, bytes []byte }

// diff returns how two headers differ in a field. An error says that the first difference is a schema of the first header
// that cannot be read.
func (f headerField) diff(other any) ([]HeaderDifference, error) {
	switch x := f.value.(type) {
	case schema:
		return diffSchemas(f.name, x, other.(schema))
	case config:
		return diffConfigs(f.name, x, other.(config)), nil
	case []CommandDescription:
		return diffCommands(f.name, x, other.([]CommandDescription))
	}
	if f.value == other {
		return nil, nil
	}
	return []HeaderDifference{{f.name, fmt.Sprint(f.value), fmt.Sprint(other)}}, nil
}

// DiffHeaders returns everything that two headers say differently, in the order in which they say it. Headers of one
// match differ in nothing but perhaps the platform, which is the recorder's.
func DiffHeaders(a, b *Header) []HeaderDifference {
	var all []HeaderDifference
	theirs := b.fields()
	for i, f := range a.fields() {
		found, _ := f.diff(theirs[i].value) // the differences say enough about a schema that no game wrote
		all = append(all, found...)
	}
	return all
}

// diffCommands compares the kinds of commands that both headers have. It stops at the first kind that is another one.
func diffCommands(name string, a, b []CommandDescription) (all []HeaderDifference, err error) {
	for i := range min(len(a), len(b)) {
		x, y := &a[i], &b[i]
		if x.Kind != y.Kind || x.Name != y.Name {
			return append(all, HeaderDifference{name, fmt.Sprintf("%d %q", x.Kind, x.Name), fmt.Sprintf("%d %q", y.Kind, y.Name)}), err
		}
		found, wrong := diffSchemas("schema of command "+x.Name, x.Schema, y.Schema)
		if len(all) == 0 {
			err = wrong
		}
		all = append(all, found...)
	}
	return all, err
}

// maxConfigDifferences is how many fields of the configuration diffConfigs lists.
const maxConfigDifferences = 16

// diffConfigs compares two configurations field by field, if they have the same fields.
func diffConfigs(name string, a, b config) (all []HeaderDifference) {
	if string(a.schema) != string(b.schema) || string(a.bytes) == string(b.bytes) {
		return nil
	}
	var found state.Differences
	s, err := state.ParseSchema(a.schema)
	if err == nil {
		found, err = s.Diff(a.bytes, b.bytes, maxConfigDifferences)
	}
	if err != nil { // no game wrote it
		return []HeaderDifference{{name, sumText(a.bytes), sumText(b.bytes)}}
	}
	for _, d := range found.List {
		all = append(all, HeaderDifference{name + " " + d.Path, d.A, d.B})
	}
	return all
}

// diffSchemas names the first field in which two schemas differ. It returns an error, too, if a is no schema.
func diffSchemas(name string, a, b []byte) ([]HeaderDifference, error) {
	if string(a) == string(b) {
		return nil, nil
	}
	if len(a) == 0 || len(b) == 0 { // rules without a result
		return []HeaderDifference{{name, schemaText(a), schemaText(b)}}, nil
	}
	x, err := state.ParseSchema(a)
	y, errB := state.ParseSchema(b)
	if err == nil && errB == nil {
		if path, g, w, ok := firstDifference(x.Root(), y.Root()); ok {
			return []HeaderDifference{{name + ", field " + path, g, w}}, nil
		}
	}
	return []HeaderDifference{{name, sumText(a), sumText(b)}}, err
}

// firstDifference returns the path of the first node in which two schemas
// differ, and what stands there.
func firstDifference(got, want state.Node) (path, g, w string, ok bool) {
	if g, w = nodeText(got), nodeText(want); g != w {
		return want.Path(), g, w, true
	}
	switch want.Kind() {
	case state.Array, state.Slice:
		return firstDifference(got.Elem(), want.Elem())
	case state.Struct:
		for i := range max(got.NumFields(), want.NumFields()) {
			switch {
			case i >= got.NumFields():
				return want.Field(i).Path(), "none", nodeText(want.Field(i)), true
			case i >= want.NumFields():
				return got.Field(i).Path(), nodeText(got.Field(i)), "none", true
			}
			if path, g, w, ok = firstDifference(got.Field(i), want.Field(i)); ok {
				return path, g, w, true
			}
		}
	}
	return "", "", "", false
}

// nodeText describes one node without its children.
func nodeText(n state.Node) string {
	s := n.Kind().String()
	if n.Kind() == state.Array {
		s = fmt.Sprintf("array of %d", n.Len())
	}
	if n.FractionBits() > 0 {
		s += fmt.Sprintf(" with %d fraction bits", n.FractionBits())
	}
	if n.Name() != "" {
		s = n.Name() + " " + s
	}
	return s
}

func schemaText(b []byte) string {
	if len(b) == 0 {
		return "none"
	}
	return sumText(b)
}

//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func sumText(b []byte) string { return checksum.FormatHash(xxhash.Sum64(b)) }
