package ownership

import "slices"

// A Reader reads the messages of a log in their order. Its zero value is before the first one.
type Reader struct {
	end   End
	owner string
	whole []byte // parts of records that are not complete yet
}

// Take takes the next message, and returns the records that are complete now, or nil. They are valid until the next
// call. The error is [ErrMalformed]; then the log cannot be read further.
func (r *Reader) Take(sequence uint64, message []byte) (complete []byte, err error) {
	end, k, body, err := parse(r.end, sequence, message)
	if err != nil {
		return nil, err
	}
	r.end = end
	switch k {
	case claim:
		r.owner, r.whole = string(body), nil // what the owner before has not completed was never seen
	case part:
		r.whole = append(r.whole, body...)
	case records:
		if len(r.whole) == 0 {
			return body, nil
		}
		complete = append(r.whole, body...)
		r.whole = nil
	}
	return complete, nil
}

// End returns the place after the messages so far.
func (r *Reader) End() End { return r.end }

// Owner returns the server whose claim was the last one, or "".
func (r *Reader) Owner() string { return r.owner }

// Clone returns a Reader at the same place.
func (r *Reader) Clone() *Reader {
	c := *r
	c.whole = slices.Clone(r.whole)
	return &c
}
