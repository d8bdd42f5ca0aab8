package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	// tailBatch is how many messages a Tail asks for at a time, and tailBytes about how many bytes.
	tailBatch = 256
	tailBytes = 4 << 20

	// segmentWait is how long a segment may take. Then the log itself is read.
	segmentWait = 400 * time.Millisecond
)

// A Tail reads the log of a match. Unlike a consumer it leaves nothing in the storage: it only sends requests, which a mirror
// may do. The copies of a stream answer in turn, so the end that it sees may be a little late.
type Tail struct {
	conn            *Conn
	stream, subject string
	last            uint64 // sequence of the last message that Next has returned
	pending         uint64
	segments        *Tail    // of the segments of the log, or nil if there is none left to read
	copies          []stored // of the segment that was read last
	copied          bool     // the last message that Next has returned is from a segment

	answers *nats.Subscription // to the request on its way, or nil
	asked   bool
}

// Tail returns a reader of a log after a sequence; 0 is the beginning, from which it reads the log's [Segments] first. Close it.
func (c *Conn) Tail(id lockstep.MatchID, after uint64) *Tail {
	t := &Tail{conn: c, last: after}
	t.stream, t.subject = c.LogOf(id)
	if after == 0 {
		t.segments = &Tail{conn: c, stream: segmentStream, subject: segmentsOf(id)}
	}
	return t
}

// Plain makes a Tail read no segments. Call it before Next, if what they have turned out to be no part of the log.
func (t *Tail) Plain() { t.segments = nil }

// Next returns the next message and its sequence. It returns io.EOF if there is none yet: ask again later. After any other
// error it continues with the same message.
func (t *Tail) Next(ctx context.Context) (sequence uint64, message []byte, err error) {
	if t.copied = t.copy(ctx); t.copied {
		m := t.copies[0]
		t.copies, t.last, t.pending = t.copies[1:], m.sequence, 1
		return m.sequence, m.message, nil
	}
	for {
		if !t.asked {
			if err := t.ask(); err != nil {
				return 0, nil, fmt.Errorf("storage: reading a log: %w", err)
			}
		}
		m, err := t.answers.NextMsgWithContext(ctx)
		if err == nil {
			sequence, err = t.take(m)
		}
		switch {
		case errors.Is(err, errBatchEnd):
			t.asked = false
			continue
		case errors.Is(err, io.EOF):
			t.asked, t.pending = false, 0
			return 0, nil, io.EOF
		case err != nil:
			t.Close() // what is on its way must not be taken for the next answer
			return 0, nil, fmt.Errorf("storage: reading a log after sequence %d: %w", t.last, err)
		}
		return sequence, m.Data, nil
	}
}

// copy reads segments until there is a message after the last one, and reports whether there is.
func (t *Tail) copy(ctx context.Context) bool {
	for {
		for len(t.copies) > 0 {
			if t.copies[0].sequence > t.last {
				return true
			}
			t.copies = t.copies[1:]
		}
		if t.segments == nil {
			return false
		}
		one, cancel := context.WithTimeout(ctx, segmentWait)
		_, segment, err := t.segments.Next(one)
		cancel()
		if err == nil {
			t.copies, err = parseSegment(segment)
		}
		if err != nil { // all are read, or the log itself must do
			t.segments.Close()
			t.segments = nil
		}
	}
}

// Copied reports whether the last message of Next is from a segment.
func (t *Tail) Copied() bool { return t.copied }

// Pending returns how many messages the log has had after the last one of Next, and 1 if that is not known.
func (t *Tail) Pending() uint64 { return t.pending }

// Close ends the reading.
func (t *Tail) Close() {
	if t.segments != nil {
		t.segments.Close()
	}
	if t.answers != nil {
		_ = t.answers.Unsubscribe() // fails if the connection is closed
	}
	t.answers, t.asked = nil, false
}

// ask sends a request for messages.
func (t *Tail) ask() (err error) {
	if t.answers == nil {
		if t.answers, err = t.conn.NATS.SubscribeSync(t.conn.NATS.NewInbox()); err != nil {
			return err
		}
	}
	body, err := json.Marshal(map[string]any{"seq": t.last + 1, "next_by_subj": t.subject, "batch": tailBatch, "max_bytes": tailBytes})
	if err != nil {
		panic(err) // numbers and texts only
	}
	err = t.conn.NATS.PublishRequest(directGet+t.stream, t.answers.Subject, body)
	t.asked = err == nil
	return err
}

// errBatchEnd follows the last message of a batch.
var errBatchEnd = errors.New("the end of a batch")

// take returns the sequence of a message. The error is io.EOF or errBatchEnd for an answer without one.
func (t *Tail) take(m *nats.Msg) (sequence uint64, err error) {
	switch status := m.Header.Get("Status"); status {
	case "":
	case "204":
		return 0, errBatchEnd
	case "404":
		return 0, io.EOF
	default:
		return 0, fmt.Errorf("got the status %s %s", status, m.Header.Get("Description"))
	}
	sequence, err = strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return 0, err
	}
	if sequence <= t.last || m.Header.Get("Nats-Subject") != t.subject {
		return 0, fmt.Errorf("got sequence %d of %q", sequence, m.Header.Get("Nats-Subject"))
	}
	t.last = sequence
	if t.pending, err = strconv.ParseUint(m.Header.Get("Nats-Num-Pending"), 10, 64); err != nil {
		return 0, err
	}
	return sequence, nil
}
