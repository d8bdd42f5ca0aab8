package disclosure

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ErrUnknown is the error of [Log.Policy] for a log that does not say who may see it, or has not said it yet.
var ErrUnknown = errors.New("disclosure: the log does not say who may see the match")

// A Log finds the Policy in the records of a log. The zero Log has seen none.
type Log struct {
	policy Policy
	known  bool
	err    error
}

// Take takes the next record of the log.
func (l *Log) Take(r *record.Record) {
	if r.Event != record.EventDisclosure || l.err != nil {
		return
	}
	p, err := Parse(r.Text)
	switch {
	case err != nil:
		l.err = err
	case l.known && p != l.policy:
		l.err = fmt.Errorf("%w: got %q after %q", ErrMalformed, p, l.policy)
	default:
		l.policy, l.known = p, true
	}
}

// Policy returns the Policy. With an error it is [Secret]. The error is [ErrUnknown] while the log has not said it.
func (l *Log) Policy() (Policy, error) {
	switch {
	case l.err != nil:
		return Secret, l.err
	case !l.known:
		return Secret, ErrUnknown
	}
	return l.policy, nil
}
