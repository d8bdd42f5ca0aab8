package storage

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
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
	// A segment is written when this many messages or bytes wait for it.
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
		if _, err := s.conn.Purge(ctx, segmentStream, s.subject); err != nil {
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
	var errs []error
	for _, at := range [][2]string{{log, subject}, {segmentStream, segmentsOf(id)}, {segmentStream, headOf(id)}} {
		_, err := c.Purge(ctx, at[0], at[1])
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// A Stream says where the copies of a stream are.
type Stream struct {
	Name     string `json:"name"`
	Replicas int    `json:"replicas"`         // copies that it should have
	Leader   string `json:"leader,omitempty"` // node that writes it; "" without a majority of the copies
	Copies   []Copy `json:"copies"`           // besides the leader's
	Problem  string `json:"problem,omitempty"`
}

// A Copy is a copy of a stream on a node.
type Copy struct {
	Node    string `json:"node"`
	Offline bool   `json:"offline,omitempty"`
	Current bool   `json:"current,omitempty"` // it has everything
	Behind  uint64 `json:"behind,omitempty"`  // operations that it does not have yet
}

// maxBehind is how many operations a copy may be behind and count as one: that of a busy stream always is a few.
const maxBehind = 1000

// Missing returns how many copies are missing: are not there, offline, or far behind. A stream without a leader has lost at least a majority.
func (s *Stream) Missing() int {
	if s.Leader == "" {
		return s.Replicas/2 + 1
	}
	missing := s.Replicas - 1
	for _, c := range s.Copies {
		if !c.Offline && (c.Current || c.Behind > 0 && c.Behind <= maxBehind) {
			missing--
		}
	}
	return max(0, missing)
}

// on reports whether a node has a copy, or makes one.
func (s *Stream) on(node string) bool {
	return s.Leader == node || slices.ContainsFunc(s.Copies, func(c Copy) bool { return c.Node == node })
}

// unfinished returns how many copies are not there with everything.
func (s *Stream) unfinished() int {
	if s.Leader == "" {
		return s.Replicas
	}
	n := s.Replicas - 1
	for _, c := range s.Copies {
		if !c.Offline && c.Current {
			n--
		}
	}
	return max(0, n)
}

// whole reports whether every copy is there and has everything.
func (s *Stream) whole() bool {
	return s.Leader != "" && len(s.Copies) == s.Replicas-1 && !slices.ContainsFunc(s.Copies, func(c Copy) bool { return c.Offline || !c.Current })
}

// infoTime is how long the storage may take to say where a stream is.
const infoTime = 2 * time.Second

// Streams returns where the copies of all streams are. A role that may set up the storage may ask for it.
func (c *Conn) Streams(ctx context.Context) []Stream {
	ctx, cancel := context.WithTimeout(ctx, infoTime)
	defer cancel()
	names := expand("{all}")
	found := make([]*Stream, len(names))
	var asking sync.WaitGroup
	logs := MaxStreams
	asking.Go(func() {
		if n, _, err := c.readLayout(ctx); err == nil {
			logs = n
		}
	})
	for i, name := range names {
		asking.Go(func() { found[i] = c.stream(ctx, name) })
	}
	asking.Wait()
	var all []Stream
	for i, s := range found {
		if s != nil && (s.Problem == "" || i < logs || i >= MaxStreams) { // names begins with the logs'
			all = append(all, *s)
		}
	}
	return all
}

// stream returns where a stream is, or nil if there is none.
func (c *Conn) stream(ctx context.Context, name string) *Stream {
	s, err := c.JS.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return &Stream{Name: name, Problem: err.Error()}
	}
	info := s.CachedInfo()
	found := &Stream{Name: name, Replicas: info.Config.Replicas}
	if info.Cluster != nil {
		found.Leader = info.Cluster.Leader
		for _, r := range info.Cluster.Replicas {
			found.Copies = append(found.Copies, Copy{r.Name, r.Offline, r.Current, r.Lag})
		}
	}
	return found
}

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
	body := encoded(map[string]any{"seq": t.last + 1, "next_by_subj": t.subject, "batch": tailBatch, "max_bytes": tailBytes})
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

// A Head says how far the log of a match is, in the words of the server that owns it. It is not in the stream of the log: a reader
// that looks for the log in the wrong place, or at a copy that is cut off, learns from it what it lacks.
type Head struct {
	Sequence uint64        `json:"sequence"` // of the last message that is stored
	Tick     lockstep.Tick `json:"tick"`     // of the match, about then
}

// TellHead says how far a log is. It waits for nothing: a head that is lost makes room for the next one.
func (c *Conn) TellHead(id lockstep.MatchID, h Head) error {
	value := encoded(h)
	return c.NATS.Publish(headOf(id), value)
}

// Head returns the last head of a log that has arrived at any copy. The error is [jetstream.ErrMsgNotFound] if there is none: the match
// is over, or has just begun.
func (c *Conn) Head(ctx context.Context, id lockstep.MatchID) (h Head, err error) {
	body := encoded(map[string]string{"last_by_subj": headOf(id)})
	m, err := c.NATS.RequestWithContext(ctx, directGet+segmentStream, body)
	if err != nil {
		return h, fmt.Errorf("storage: the head of a log: %w", err)
	}
	switch status := m.Header.Get("Status"); status {
	case "":
	case "404":
		return h, jetstream.ErrMsgNotFound
	default:
		return h, fmt.Errorf("storage: the head of a log: got the status %s %s", status, m.Header.Get("Description"))
	}
	if err := json.Unmarshal(m.Data, &h); err != nil {
		return Head{}, fmt.Errorf("storage: the head of a log: %w", err)
	}
	return h, nil
}
