package ownership

import (
	"bytes"
	"slices"
)

// An Owner appends records to the log of a match for one server. It does no work itself: its caller asks for the next
// [Step], does it, and tells the result.
type Owner struct {
	end     End // the last message that is known to be stored
	term    uint32
	largest int // of a message, in bytes

	queue    []byte   // records that no stored message has
	ends     []uint64 // of the Appends in the queue: appended after each of them
	appended uint64   // bytes of records so far
	parted   uint64   // of these, in a stored message, which may be a part
	stored   uint64   // of these, complete

	flight  []byte // the message on its way, or whose result is unknown; empty for none
	carried int    // bytes of the queue that it has
	sent    bool   // its result is not known yet
	unsure  bool   // its result got lost
	claimed bool
	lost    bool
}

// A Step is what the caller of an [Owner] does next.
type Step struct {
	Do      Do
	Expect  uint64 // the sequence of the last message, with Append
	Message []byte // to append; valid until its result is told
}

// A Do is a kind of [Step].
type Do uint8

const (
	Nothing Do = iota // until records are appended, or the result of the last step is told
	Append            // append Message if the last sequence is Expect; then call Stored, Refused or Unknown
	Read              // read the last message of the log; then call Last
)

// Claim returns an Owner that claims a log which ends at end, in the next term. largest is the largest size of a message.
// It panics if name is empty or longer than 64 bytes, or largest has no room for a record.
func Claim(name string, end End, largest int) *Owner {
	if len(name) == 0 || len(name) > maxName || largest < headerSize+maxName {
		panic("ownership: a name or a size that no server has")
	}
	o := &Owner{end: end, term: end.Term + 1, largest: largest}
	o.flight = appendMessage(nil, end, claim, o.term, []byte(name))
	return o
}

// Append queues records. Readers get all records of one Append or none of them.
func (o *Owner) Append(raw []byte) {
	if len(raw) == 0 {
		return
	}
	o.queue = append(o.queue, raw...)
	o.appended += uint64(len(raw))
	o.ends = append(o.ends, o.appended)
}

// Appended returns how many bytes of records were queued so far.
func (o *Owner) Appended() uint64 { return o.appended }

// Stored returns how many of them are stored. The parts of records that are too large for one message count when the last
// one is stored: until then a claim of another server makes readers drop them.
func (o *Owner) Stored() uint64 { return o.stored }

// Claimed reports whether the claim is stored. Only then do the records of the owners before stay as they are.
func (o *Owner) Claimed() bool { return o.claimed }

// Lost reports whether another server has claimed the log, or removed it. Nothing more is stored.
func (o *Owner) Lost() bool { return o.lost }

// End returns the last place of the log that the Owner knows.
func (o *Owner) End() End { return o.end }

// Next returns the next step.
func (o *Owner) Next() Step {
	switch {
	case o.lost || o.sent:
		return Step{}
	case o.unsure:
		o.sent = true
		return Step{Do: Read}
	case len(o.flight) == 0 && len(o.queue) == 0:
		return Step{}
	case len(o.flight) == 0:
		k := o.carry()
		o.flight = appendMessage(o.flight, o.end, k, o.term, o.queue[:o.carried])
	}
	o.sent = true
	return Step{Append, o.end.Sequence, o.flight}
}

// carry chooses what the next message has of the queue: as many whole Appends as fit, or a part of one.
func (o *Owner) carry() kind {
	room := o.largest - headerSize
	o.carried = 0
	for _, end := range o.ends {
		n := end - o.parted
		if n > uint64(room) {
			break
		}
		o.carried = int(n)
	}
	if o.carried > 0 {
		return records
	}
	o.carried = room
	return part
}

// Accepted tells that the message of the last step is stored, with its sequence.
func (o *Owner) Accepted(sequence uint64) {
	o.end = End{sequence, checkOf(o.flight), o.term}
	o.claimed, o.sent, o.unsure = true, false, false
	o.parted += uint64(o.carried)
	if kind(o.flight[1]) != part {
		o.stored = o.parted
	}
	o.queue = slices.Delete(o.queue, 0, o.carried)
	whole, _ := slices.BinarySearch(o.ends, o.parted+1)
	o.ends = slices.Delete(o.ends, 0, whole)
	o.flight, o.carried = o.flight[:0], 0
}

// Refused tells that the log did not end where the last step expected it: an earlier try was stored, or another server
// has claimed the log.
func (o *Owner) Refused() { o.sent, o.unsure = false, true }

// Unknown tells that the result of the last step got lost. It may have been stored, or may be later.
func (o *Owner) Unknown() { o.sent, o.unsure = false, true }

// Last tells the last message of the log and its sequence, which is 0 for an empty log.
func (o *Owner) Last(sequence uint64, message []byte) {
	o.sent, o.unsure = false, false
	switch {
	case sequence == 0 && o.end.Sequence > 0: // the log was removed, because the match is over
		o.lost = true
	case sequence <= o.end.Sequence: // not stored so far, or an old answer: repeat it
	case bytes.Equal(message, o.flight): // the whole message: players choose bytes in it, and could make equal checks
		o.Accepted(sequence)
	default:
		o.lost = true
	}
}

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
