package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Segments makes a long log fast to read. The storage finds each message among those of all other matches, so an hour of ticks
// takes seconds. Segments writes copies of many messages as one, to a stream of their own, from which a
// [Tail] reads first. A segment that is missing costs time. One that is wrong is noticed by the checks in the messages; then read the log
// again with [Tail.Plain], and replace the segments.
type Segments struct {
	conn    *Conn
	subject string
	wake    chan struct{} // holds a value when there is something to write

	mu    sync.Mutex
	queue []stored // messages that no segment has
	bytes int      // of them
	full  bool     // messages were dropped, so no later one can be in a segment
	anew  bool     // what is stored must be removed first

	last  uint64 // sequence of the last segment; only Run uses it
	known bool   // whether last is known
}

// A stored is a message of a log.
type stored struct {
	sequence uint64
	message  []byte
}

const (
	// A segment is written when so many messages or bytes wait for it.
	segmentMessages = 256
	segmentBytes    = 256 << 10

	// maxWaiting is how many bytes wait while the storage takes no segments. Then the rest of the log has none.
	maxWaiting = 8 << 20

	segmentFormat = 1
	segmentTime   = time.Second // for one attempt, and then until the next one
)

// Segments returns a writer of the segments of a log. Only the server that owns the log should have one that runs.
func (c *Conn) Segments(id lockstep.MatchID) *Segments {
	return &Segments{conn: c, subject: segmentsOf(id), wake: make(chan struct{}, 1)}
}

// Replace makes the writer remove what is stored, and begin with the first message of Add, which is the first one of the log.
func (s *Segments) Replace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anew = true
}

func segmentsOf(id lockstep.MatchID) string { return segmentSubject + "." + id.String() }

// headOf returns the subject of the [Head] of a log.
func headOf(id lockstep.MatchID) string { return segmentsOf(id) + "-head" }

// Add takes a stored message of the log and copies it. The messages that no segment has yet must come in their order, without
// a gap. Add never waits.
func (s *Segments) Add(sequence uint64, message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return
	}
	s.queue = append(s.queue, stored{sequence, append([]byte(nil), message...)})
	if s.bytes += len(message); s.bytes > maxWaiting {
		s.giveUp()
	}
	if s.due() {
		select {
		case s.wake <- struct{}{}:
		default: // a value is there
		}
	}
}

// giveUp leaves the rest of the log without segments. The mutex is held.
func (s *Segments) giveUp() { s.full, s.queue, s.bytes = true, nil, 0 }

// due reports whether there is enough for a segment. The mutex is held.
func (s *Segments) due() bool { return len(s.queue) >= segmentMessages || s.bytes >= segmentBytes }

// Run writes segments until ctx ends. What is left then is not lost: the log has it.
func (s *Segments) Run(ctx context.Context) {
	for {
		s.mu.Lock()
		due := s.due()
		s.mu.Unlock()
		pause := make(<-chan time.Time)
		if due && s.write(ctx) == nil {
			continue
		} else if due {
			pause = time.After(segmentTime)
		}
		select {
		case <-s.wake:
		case <-pause:
		case <-ctx.Done():
			return
		}
	}
}

// write writes one segment.
func (s *Segments) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, segmentTime)
	defer cancel()
	if !s.known {
		if err := s.learn(ctx); err != nil {
			return err
		}
	}
	n, segment := s.next()
	if n == 0 {
		return nil
	}
	ack, err := s.conn.JS.Publish(ctx, s.subject, segment, jetstream.WithExpectLastSequencePerSubject(s.last), jetstream.WithRetryAttempts(0))
	if err != nil {
		s.known = false // it may be stored, or another server has written one
		return fmt.Errorf("storage: a segment: %w", err)
	}
	s.last = ack.Sequence
	s.drop(n)
	return nil
}

// learn reads the last segment, and drops the messages that it and those before it have.
func (s *Segments) learn(ctx context.Context) error {
	s.mu.Lock()
	anew := s.anew
	s.mu.Unlock()
	if anew {
		if err := s.conn.purge(ctx, segmentStream, s.subject); err != nil {
			return err
		}
		s.mu.Lock()
		s.anew = false
		s.mu.Unlock()
	}
	sequence, segment, err := s.conn.last(ctx, segmentStream, s.subject)
	if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return err
	}
	all, err := parseSegment(segment)
	s.mu.Lock()
	if err != nil {
		s.giveUp()
	}
	n := 0
	for len(all) > 0 && n < len(s.queue) && s.queue[n].sequence <= all[len(all)-1].sequence {
		n++
	}
	s.mu.Unlock()
	s.last, s.known = sequence, true
	s.drop(n)
	return nil
}

// next returns the next segment, and how many messages it has.
func (s *Segments) next() (n int, segment []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.due() {
		return 0, nil
	}
	segment = append(segment, segmentFormat)
	for _, m := range s.queue {
		if n > 0 && len(segment)+len(m.message)+2*binary.MaxVarintLen64 > MaxMessage {
			break
		}
		segment = binary.AppendUvarint(segment, m.sequence)
		segment = binary.AppendUvarint(segment, uint64(len(m.message)))
		segment = append(segment, m.message...)
		n++
	}
	return n, segment
}

// drop removes the first messages of the queue.
func (s *Segments) drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.queue[:min(n, len(s.queue))] { // Add may have emptied it
		s.bytes -= len(m.message)
	}
	s.queue = append([]stored(nil), s.queue[min(n, len(s.queue)):]...)
}

// parseSegment returns the messages of a segment, whose bytes they share.
func parseSegment(segment []byte) (all []stored, err error) {
	if len(segment) == 0 {
		return nil, nil
	}
	bad := fmt.Errorf("storage: a segment of %d bytes is malformed", len(segment))
	if segment[0] != segmentFormat {
		return nil, bad
	}
	for b := segment[1:]; len(b) > 0; {
		sequence, n := binary.Uvarint(b)
		if n <= 0 || len(all) > 0 && sequence <= all[len(all)-1].sequence {
			return nil, bad
		}
		size, k := binary.Uvarint(b[n:])
		if k <= 0 || size > uint64(len(b)-n-k) {
			return nil, bad
		}
		from := n + k
		all = append(all, stored{sequence, b[from : from+int(size)]})
		b = b[from+int(size):]
	}
	return all, nil
}

// Remove removes the log of a match that is over.
func (c *Conn) Remove(ctx context.Context, id lockstep.MatchID) error {
	log, subject := c.LogOf(id)
	return errors.Join(c.purge(ctx, log, subject), c.purge(ctx, segmentStream, segmentsOf(id)), c.purge(ctx, segmentStream, headOf(id)))
}

// purge removes all messages of a subject.
func (c *Conn) purge(ctx context.Context, stream, subject string) error {
	s, err := c.JS.Stream(ctx, stream)
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSubject(subject))
	}
	if err != nil {
		return fmt.Errorf("storage: removing %s: %w", subject, err)
	}
	return nil
}
