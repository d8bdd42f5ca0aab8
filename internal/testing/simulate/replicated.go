package simulate

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// A replicated reads the replicated log as the store takes it. It shares no code with package ownership: the table in the
// comment of that package is all that it knows of the format.
type replicated struct {
	check   uint64
	term    uint32
	writer  string   // of this term
	parts   []byte   // of records that are not complete
	records [][]byte // complete ones without keyframes, by position
}

// Kinds of messages, and where a message has its fields.
const (
	messageClaim   = 1
	messageRecords = 2
	messagePart    = 3

	messageTerm  = 2
	messageCheck = 6
	messageBody  = 14
)

// take reads the next message of the log, which a server has appended. It reports whether that is a claim.
func (x *replicated) take(w *world, by string, message []byte) (claimed bool) {
	if len(message) <= messageBody || message[0] != 1 {
		w.fail("I19", "%s has appended %d bytes that are no message", by, len(message))
		return false
	}
	body, kind := message[messageBody:], message[1]
	term := binary.LittleEndian.Uint32(message[messageTerm:])
	var d xxhash.Digest
	d.Reset()
	d.Write(binary.LittleEndian.AppendUint64(nil, x.check))
	d.Write(message[:messageCheck])
	d.Write(body)
	if x.check = binary.LittleEndian.Uint64(message[messageCheck:]); x.check != d.Sum64() {
		w.fail("I19", "%s has appended a message of kind %d and term %d that does not follow the one before", by, kind, term)
	}
	if kind == messageClaim {
		if term != x.term+1 || string(body) != by {
			w.fail("I19", "%s has appended a claim of term %d for %q, want term %d", by, term, body, x.term+1)
		}
		x.term, x.writer, x.parts = term, by, nil
		return true
	}
	if term != x.term || by != x.writer {
		w.fail("I19", "%s has appended records of term %d, and %s has the log in term %d", by, term, x.writer, x.term)
	}
	if x.parts = append(x.parts, body...); kind == messageRecords {
		x.complete(w, by)
	}
	return false
}

// complete reads records that are complete now. They are those of the match.
func (x *replicated) complete(w *world, by string) {
	b := x.parts
	x.parts = nil
	for len(b) > 0 {
		record, rest, err := first(b)
		if err != nil {
			w.fail("I19", "%s has appended bytes that are no records: %v", by, err)
			return
		}
		b = rest
		if kindOf(record) == recordKeyframe {
			continue
		}
		at := len(x.records)
		if h := w.oracle.now(); at >= len(h.records)+len(w.oracle.offered) || !bytes.Equal(record, w.oracle.record(at)) {
			w.fail("I19", "%s has appended another record %d than the match has", by, at)
			return
		}
		x.records = append(x.records, record)
	}
}

// saw checks a record that a client has received: the log has it at its position for ever.
func (x *replicated) saw(w *world, m *machine, at int, record []byte) {
	if at >= len(x.records) || !bytes.Equal(record, x.records[at]) {
		w.fail("I19", "%s was sent record %d, and the replicated log has %d records, or another one there", m, at, len(x.records))
	}
}

// sawState checks a state that a client has received. It follows from the records before its position.
func (x *replicated) sawState(w *world, m *machine, at int) {
	if at > len(x.records) {
		w.fail("I19", "%s was sent the state at record %d, and the replicated log has %d records", m, at, len(x.records))
	}
}
