package record

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// An IdentityError tells that two machines, or a machine and a log, cannot
// share a match, and why.
type IdentityError struct {
	Field string // what differs: "game", "build", "state schema", …
	Got   string // the other side's
	Want  string // ours
}

func (e *IdentityError) Error() string {
	return fmt.Sprintf("lockstep: other %s: got %s, want %s", e.Field, e.Got, e.Want)
}

// CheckIdentity returns an [*IdentityError] that names the first thing in which
// the game of h is not that of want, the header of a game at hand.
func (h *Header) CheckIdentity(want *Header) error {
	for _, f := range []struct {
		field     string
		got, want any
	}{
		{"protocol", h.Protocol, want.Protocol},
		{"engine", h.Engine, want.Engine},
		{"game", h.Game, want.Game},
		{"build", h.Build, want.Build},
		{"number of command kinds", len(h.Commands), len(want.Commands)},
	} {
		if f.got != f.want {
			return &IdentityError{f.field, fmt.Sprint(f.got), fmt.Sprint(f.want)}
		}
	}
	if err := compareSchemas("state schema", h.StateSchema, want.StateSchema); err != nil {
		return err
	}
	if err := compareSchemas("configuration schema", h.ConfigSchema, want.ConfigSchema); err != nil {
		return err
	}
	for i, c := range want.Commands {
		got := h.Commands[i]
		if got.Kind != c.Kind || got.Name != c.Name {
			return &IdentityError{"command", fmt.Sprintf("%d %q", got.Kind, got.Name), fmt.Sprintf("%d %q", c.Kind, c.Name)}
		}
		if err := compareSchemas("schema of command "+c.Name, got.Schema, c.Schema); err != nil {
			return err
		}
	}
	return nil
}

// compareSchemas returns an IdentityError that names the first field in which
// two descriptions differ.
func compareSchemas(what string, got, want []byte) error {
	if string(got) == string(want) {
		return nil
	}
	ours, err := state.ParseSchema(want)
	if err != nil {
		panic(err) // a Game wrote it
	}
	theirs, err := state.ParseSchema(got)
	if err != nil {
		return fmt.Errorf("lockstep: %s: %w", what, err)
	}
	if path, g, w, ok := firstDifference(theirs.Root(), ours.Root()); ok {
		return &IdentityError{what + ", field " + path, g, w}
	}
	return &IdentityError{what, sumText(got), sumText(want)}
}

//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func sumText(b []byte) string { return checksum.FormatHash(xxhash.Sum64(b)) }

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
