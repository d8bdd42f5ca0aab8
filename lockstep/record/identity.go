package record

import "fmt"

// An IdentityError says why two machines, or a machine and a log, cannot share a match.
type IdentityError struct {
	Field string // what differs: "game", "build", "state schema", …
	Got   string // the other side's
	Want  string // ours
}

func (e *IdentityError) Error() string {
	return fmt.Sprintf("lockstep: other %s: got %s, want %s", e.Field, e.Got, e.Want)
}

// CheckIdentity returns an [*IdentityError] that names the first thing in which the game of h is not that of want, the
// header of a game at hand.
func (h *Header) CheckIdentity(want *Header) error {
	if got, need := h.Protocol, h.NeededProtocol(); got != need {
		return &IdentityError{"protocol", fmt.Sprint(got), fmt.Sprint(need)}
	}
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
