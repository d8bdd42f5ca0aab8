package record

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
	header   []byte
	keyframe []byte
	records  []byte
	ends     []int // of each record, in records
}

// Append takes one record.
func (t *Tail) Append(record []byte) error {
	switch KindOf(record) {
	case KindHeader:
		t.header = append(t.header[:0], record...)
	case KindKeyframe:
		t.keyframe = append(t.keyframe[:0], record...)
		t.records, t.ends = t.records[:0], t.ends[:0]
	default:
		t.records = append(t.records, record...)
		t.ends = append(t.ends, len(t.records))
	}
	return nil
}

// Join appends the header, the latest keyframe and everything after it to l,
// which has then caught up with the match.
func (t *Tail) Join(l Log) error {
	if err := l.Append(t.header); err != nil {
		return err
	}
	if err := l.Append(t.keyframe); err != nil {
		return err
	}
	from := 0
	for _, end := range t.ends {
		if err := l.Append(t.records[from:end]); err != nil {
			return err
		}
		from = end
	}
	return nil
}
