package ownership

import (
	"bytes"
	"fmt"
	"slices"
)

// An entry is a message in the log of the model, with what is true of the log up to it. Logs share their beginnings.
type entry struct {
	before *entry
	request
	sequence uint64
	number   int // of messages up to it
	kind     kind
	term     uint32

	reader   Reader
	writer   int           // of the records of the term; -1: none yet
	written  [maxTakes]int // bytes of each owner, complete or not
	complete [maxTakes]int // of these, what the reader has returned
}

// extend appends a message to a log. The error says what is wrong with the log now. It does not use the code under test, except
// that it asks the Reader what it makes of the message.
func (m *model) extend(log *entry, r request) (*entry, error) {
	e := &entry{before: log, request: r, number: 1, writer: -1}
	if log != nil {
		e.number, e.writer, e.written, e.complete = log.number+1, log.writer, log.written, log.complete
		e.reader = *log.reader.Clone()
	}
	e.sequence = uint64(2 * e.number) // other logs in the same stream have sequences, too
	e.kind, e.term = kind(r.message[1]), uint32(r.message[2])
	if log != nil && (e.term < log.term || e.term == log.term && e.kind == claim) {
		return e, fmt.Errorf("two owners: %s is stored after one of term %d", messageText(r.message), log.term)
	}
	body := r.message[14:]
	if e.kind == claim {
		e.writer = -1
	} else if err := m.countWritten(e, body); err != nil {
		return e, err
	}
	complete, err := m.take(&e.reader, e.sequence, r.message)
	if err != nil {
		return e, fmt.Errorf("chain: %w", err)
	}
	key := m.key(r.author)
	from := e.complete[key]
	e.complete[key] += len(complete)
	if want := m.stream(r.author, e.complete[key])[from:]; !bytes.Equal(complete, want) {
		return e, fmt.Errorf("records: readers get bytes %d to %d of owner %d, and they are wrong", from, e.complete[key], r.author)
	}
	return e, nil
}

// countWritten compares the bytes of a message with those that its owner has to write next.
func (m *model) countWritten(e *entry, body []byte) error {
	if m.twins {
		return nil // an owner repeats the parts that another one has not completed
	}
	if e.writer >= 0 && e.writer != e.author {
		return fmt.Errorf("two owners: owners %d and %d have records in term %d", e.writer, e.author, e.term)
	}
	e.writer = e.author
	from := e.written[e.author]
	e.written[e.author] += len(body)
	if want := m.stream(e.author, e.written[e.author])[from:]; !bytes.Equal(body, want) {
		return fmt.Errorf("bytes: owner %d has %d bytes in the log, and the next %d are not those that follow", e.author, from, len(body))
	}
	return nil
}

// end returns the sequence of the last message.
func (e *entry) end() uint64 {
	if e == nil {
		return 0
	}
	return e.sequence
}

// count returns the number of messages.
func (e *entry) count() int {
	if e == nil {
		return 0
	}
	return e.number
}

// at returns the entry with a number, or nil.
func (e *entry) at(number int) *entry {
	for e != nil && e.number > number {
		e = e.before
	}
	if e.count() != number {
		return nil
	}
	return e
}

// completed returns how many bytes of an owner readers get.
func (e *entry) completed(key int) int {
	if e == nil {
		return 0
	}
	return e.complete[key]
}

// othersAfter reports whether there is a message after a sequence that an owner has not written.
func (e *entry) othersAfter(sequence uint64, author int) bool {
	for ; e.end() > sequence; e = e.before {
		if e.author != author {
			return true
		}
	}
	return false
}

// Clone returns a Reader at the same place.
func (r *Reader) Clone() *Reader {
	c := *r
	c.whole = slices.Clone(r.whole)
	return &c
}
