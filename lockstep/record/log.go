package record

import "slices"

// A Log takes the records of a match, in order. Replay writers, a [lockstep.Follower] and the sender to a peer are
// logs.
//
// Append takes one record, whose bytes are valid until it returns. After an error, neither this record nor a later one
// is in the log.
type Log interface {
	Append(record []byte) error
}

// Tee returns a Log that appends to each of logs in turn and stops at the first error. Put the log that must not miss a
// record first: the others never get a record that it refused.
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

// A Tail is a Log in memory for late joiners: it keeps the header, the latest keyframe and the records after that.
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

// Join appends the kept records to l, which then has caught up with the match.
func (t *Tail) Join(l Log) error {
	for _, record := range t.records {
		if err := l.Append(record); err != nil {
			return err
		}
	}
	return nil
}
