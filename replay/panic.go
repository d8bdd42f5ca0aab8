package replay

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Panic is a panic of the rules that a file has, or that [Verify] has met in a tick of the file.
type Panic struct {
	Tick     lockstep.Tick `json:"tick"`             // the tick that the rules did not compute
	Where    string        `json:"where"`            // "Step", or "Validate"
	Text     string        `json:"text"`             // what they panicked with
	Stack    string        `json:"stack,omitempty"`  // as in the file, or else here
	Commands int           `json:"commands"`         // of the tick
	Recorded bool          `json:"recorded"`         // the file has it
	Computed bool          `json:"computed"`         // the tick was computed again here
	Again    bool          `json:"again"`            // and the rules panicked in it
	Here     string        `json:"here,omitempty"`   // with what the rules here panic, if they do
	Passed   bool          `json:"passed,omitempty"` // of a player's machine: the server computed the tick in the match, and its rules did not panic

	fault *lockstep.PanicError // of an unrecorded one
}

// Error says what the file has, and what has come of it here and on the server.
func (p *Panic) Error() string {
	if p.Passed {
		return p.outcome() + "; the server computed the tick in the match, and its rules did not panic"
	}
	return p.outcome()
}

// Unwrap returns the panic here that no record tells of, or nil.
func (p *Panic) Unwrap() error {
	if p.fault == nil {
		return nil
	}
	return p.fault
}

func (p *Panic) outcome() string {
	s := fmt.Sprintf("tick %d: the rules panicked in %s: %s", p.Tick, p.Where, cmp.Or(p.Text, "the text is left out"))
	switch {
	case !p.Recorded:
		return fmt.Sprintf("tick %d: the rules panic here in %s: %s; the file has no record of a panic", p.Tick, p.Where, p.Here)
	case !p.Computed:
		return s
	case !p.Again:
		return s + "; computed again here, they do not panic"
	case p.Here != p.Text:
		return s + "; computed again here, they panic with " + p.Here
	}
	return s + "; computed again here, they panic in the same way"
}

// NewPanic returns the panic in a record of a file.
func NewPanic(rec *record.Record) *Panic {
	return &Panic{Tick: rec.Panic.Frame.Tick, Where: rec.Panic.Where, Text: rec.Panic.Text, Stack: rec.Panic.Stack, Commands: len(rec.Panic.Frame.Commands), Recorded: true}
}

// FindPanic returns the first panic of the rules that a file has, or nil. What cannot be read has none.
func FindPanic(r *Reader) (*Panic, error) {
	ahead, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	for rec, err := range ahead.All() {
		if err != nil {
			break
		}
		if rec.Kind == record.KindPanic {
			return NewPanic(rec), nil
		}
	}
	return nil, nil
}

// panicked notes a panic of the rules: err of a record. After that of a record of a panic the verification goes on.
func (v *Verification) panicked(f *lockstep.Follower, rec *record.Record, err error) error {
	fault := (*lockstep.PanicError)(nil)
	switch {
	case rec.Kind == record.KindPanic && (err == nil || errors.As(err, &fault)):
		p := NewPanic(rec)
		p.Computed = true
		if fault != nil {
			p.Again, p.Here = true, fmt.Sprint(fault.Value)
		}
		v.Panic = cmp.Or(v.Panic, p)
		return nil
	case errors.As(err, &fault) && fault.Where == record.InStep && v.Panic == nil:
		v.Panic = &Panic{Tick: fault.Tick, Where: fault.Where, Text: fmt.Sprint(fault.Value), Stack: string(fault.Stack), Commands: len(rec.Frame.Commands), Computed: true, Again: true, Here: fmt.Sprint(fault.Value), fault: fault}
	}
	return err
}

// found returns the error of a file whose reading ended with err: the first fault in its order, and then err.
func (v *Verification) found(err error) error {
	var first error
	switch {
	case v.First != nil:
		first = v.First
	case v.Panic != nil:
		first = v.Panic
	}
	switch {
	case first == nil || errors.Is(err, first):
		return err
	case err == nil || errors.Is(first, err): // a panic is what ended it
		return first
	}
	return fmt.Errorf("%w; then %w", first, err)
}
