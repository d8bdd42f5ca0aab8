package feed

import "fmt"

// A Receiver makes views from deltas. It is for one goroutine.
type Receiver struct {
	plan    *Plan
	number  Number
	shots   [History]shot
	zero    image
	scratch scratch
}

// NewReceiver returns a receiver of views by a plan.
func NewReceiver(p *Plan) *Receiver {
	r := &Receiver{plan: p}
	r.zero.zero(p)
	r.shots[0].image.zero(p)
	return r
}

// Number returns that of the last view, which the receiver acknowledges.
func (r *Receiver) Number() Number { return r.number }

// Apply takes the delta from a base to a view. A view that is not newer than the last one is left out. The error is a
// [*DeltaError], or says that the receiver does not have the base; then it keeps its views.
func (r *Receiver) Apply(number, base Number, delta []byte) error {
	if number <= r.number {
		return nil
	}
	src := &r.zero
	if base > 0 {
		if shot := &r.shots[base%History]; shot.number == base && base < number && number-base < History {
			src = &shot.image
		} else {
			return fmt.Errorf("feed: view %d is given as a difference to view %d, which the receiver does not have", number, base)
		}
	}
	next := &r.shots[number%History]
	next.number = 0
	if err := r.plan.apply(&next.image, src, delta, &r.scratch); err != nil {
		return err
	}
	next.number, r.number = number, number
	return nil
}

// Memory returns the bytes that the receiver keeps.
func (r *Receiver) Memory() int {
	n := cap(r.scratch.merged) + 8*(cap(r.scratch.changed)+cap(r.scratch.removed))
	for i := range r.shots {
		n += r.shots[i].image.memory()
	}
	return n
}

// AppendView appends the canonical bytes of the last view.
func (r *Receiver) AppendView(dst []byte) []byte {
	return r.plan.append(dst, &r.shots[r.number%History].image)
}
