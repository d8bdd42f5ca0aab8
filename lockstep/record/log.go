package record

import "slices"

// A Log takes the records of a match, in order. A replay writer is one, a
// [lockstep.Follower] is one, and so is what sends them to a peer.
//
// Append takes one record; its bytes are valid only until it returns. An error
// means that the record, and every later one, is not in the log.
type Log interface {
	Append(record []byte) error
}

// Tee returns a Log that appends to each of logs in turn, and stops at the
// first error. Put the one that must not miss a record first: what it did not
// take, the others never see.
func Tee(logs ...Log) Log { return tee(logs) }

type tee []Log

func (t tee) Append(record []byte) error {
	for _, l := range t {
		if err := l.Append(record); err != nil {
			return err
		}
	}
	return nil
}

// A Tail is a Log in memory that keeps what a late joiner needs: the header,
// the latest keyframe, and the records after it.
type Tail struct {
	records [][]byte // the header, the keyframe, and those after it
}

// Append takes one record.
func (t *Tail) Append(record []byte) error {
	if KindOf(record) == KindKeyframe && len(t.records) > 0 {
		t.records = t.records[:1]
	}
	t.records = append(t.records, slices.Clone(record))
	return nil
}

// Join appends the header, the latest keyframe and everything after it to l,
// which has then caught up with the match.
func (t *Tail) Join(l Log) error {
	for _, record := range t.records {
		if err := l.Append(record); err != nil {
			return err
		}
	}
	return nil
}
