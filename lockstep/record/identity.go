package record

import (
	"fmt"
	"strings"
)

// An IdentityError says why two machines, or a machine and a log, cannot share a match.
type IdentityError struct {
	Field string // what differs: "game", "build", "state schema", …
	Got   string // the other side's
	Want  string // ours
}

// Error names a field of a schema as each side has it.
func (e *IdentityError) Error() string {
	if what, path, ok := strings.Cut(e.Field, ", field "); ok {
		return fmt.Sprintf("lockstep: other %s: your build has %s, the match has %s", what, fieldText(path, e.Want), fieldText(path, e.Got))
	}
	return fmt.Sprintf("lockstep: other %s: got %s, want %s", e.Field, e.Got, e.Want)
}

// fieldText returns a node of a schema with its path: "Units[].Armor uint16". The text of a node begins with its name,
// which may differ from that in the path.
func fieldText(path, node string) string {
	switch {
	case node == "none":
		return "no " + path
	case strings.HasSuffix(path, "]"): // an element has no name
		return path + " " + node
	}
	return path[:strings.LastIndexByte(path, '.')+1] + node
}

// CheckIdentity returns an [*IdentityError] that names the first thing in which the game of h is not that of want, the
// header of a game at hand.
func (h *Header) CheckIdentity(want *Header) error {
	wanted := want.fields()
	for i, f := range h.fields() {
		if !f.identity {
			continue
		}
		switch found, err := f.diff(wanted[i].value); {
		case err != nil:
			return fmt.Errorf("lockstep: %s: %w", found[0].Field, err)
		case len(found) > 0:
			return &IdentityError{found[0].Field, found[0].A, found[0].B}
		}
	}
	return nil
}
