package storage_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A copying is a log with writers of segments.
type copying struct {
	conn      *storage.Conn
	id, other lockstep.MatchID // of the log, and of one whose messages are between its own
	all       []copied
}

type copied struct {
	sequence uint64
	message  []byte
}

// newCopying returns an empty log. All such tests use one storage.
func newCopying(t *testing.T) *copying {
	t.Helper()
	conn, err := copyStorage()
	if err != nil {
		t.Fatal(err)
	}
	c := &copying{conn: conn}
	rand.Read(c.id[:])
	rand.Read(c.other[:])
	return c
}

// copyStorage starts a storage, which stopShared stops when all tests are over.
var copyStorage = sync.OnceValues(func() (*storage.Conn, error) {
	dir, err := os.MkdirTemp("", "copies")
	if err != nil {
		return nil, err
	}
	stops = append(stops, func() { os.RemoveAll(dir) })
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: dir})
	if err != nil {
		return nil, err
	}
	stops = append(stops, node.Stop)
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "test"})
	if err != nil {
		return nil, err
	}
	stops = append(stops, conn.Close)
	return conn, conn.Setup(context.Background(), storage.Layout{Streams: 1})
})

// stops end what tests share, the last one first.
var stops []func()

func stopShared() {
	for _, stop := range slices.Backward(stops) {
		stop()
	}
}

// append stores messages of a size in the log, between those of another match.
func (c *copying) append(t *testing.T, n, size int) {
	t.Helper()
	_, subject := c.conn.LogOf(c.id)
	_, other := c.conn.LogOf(c.other)
	for range n {
		m := copied{message: bytes.Repeat([]byte{byte(len(c.all))}, size)}
		ack, err := c.conn.JS.Publish(t.Context(), subject, m.message)
		if err == nil {
			m.sequence = ack.Sequence
			_, err = c.conn.JS.Publish(t.Context(), other, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.all = append(c.all, m)
	}
}

// add gives messages to a writer.
func (c *copying) add(s *storage.Segments, from, to int) {
	for _, m := range c.all[from:to] {
		s.Add(m.sequence, m.message)
	}
}

// run runs a writer until the test ends.
func run(t *testing.T, s *storage.Segments) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// await waits until readers get so many messages from segments. The log as a whole must always be what it is.
func (c *copying) await(t *testing.T, want int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got := 0
		tail := c.conn.Tail(c.id, 0)
		for i := 0; ; i++ {
			sequence, message, err := tail.Next(t.Context())
			if errors.Is(err, io.EOF) && i == len(c.all) {
				break
			}
			if err != nil || sequence != c.all[i].sequence || !bytes.Equal(message, c.all[i].message) {
				t.Fatalf("message %d: got sequence %d and %d bytes, %v; want sequence %d", i, sequence, len(message), err, c.all[i].sequence)
			}
			if tail.Copied() {
				got++
			}
		}
		tail.Close()
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %d messages from segments, want %d", got, want)
		}
	}
}

// A segment is written for each 256 messages. The rest is read from the log.
func TestSegments(t *testing.T) {
	t.Parallel()
	c := newCopying(t)
	s := c.conn.Segments(c.id)
	run(t, s)
	c.await(t, 0)
	c.append(t, 700, 10)
	c.add(s, 0, 700)
	c.await(t, 700)
	c.append(t, 255, 10)
	c.add(s, 700, 955)
	c.await(t, 700)
	c.append(t, 1, 10)
	c.add(s, 955, 956)
	c.await(t, 956)
}

// Messages of any size fit into segments.
func TestSegmentsOfLargeMessages(t *testing.T) {
	t.Parallel()
	c := newCopying(t)
	s := c.conn.Segments(c.id)
	run(t, s)
	c.append(t, 3, storage.MaxMessage)
	c.append(t, 6, 200<<10)
	c.add(s, 0, 9)
	c.await(t, 9)
}

// A new owner goes on after the last segment, whatever it has read itself. The old one, which does not know of it yet, spoils
// nothing.
func TestSegmentsOfTwoOwners(t *testing.T) {
	t.Parallel()
	c := newCopying(t)
	first, second := c.conn.Segments(c.id), c.conn.Segments(c.id)
	run(t, first)
	c.append(t, 600, 10)
	c.add(first, 0, 300)
	c.await(t, 300)
	run(t, second)
	c.add(second, 0, 600) // also what is in a segment
	c.await(t, 600)
	c.append(t, 300, 10)
	c.add(first, 300, 600)
	c.add(second, 600, 900)
	c.await(t, 900)
}

// What waits for segments is bounded. Beyond the bound the rest of the log has none, and is read all the same.
func TestSegmentsAreBounded(t *testing.T) {
	t.Parallel()
	c := newCopying(t)
	s := c.conn.Segments(c.id)
	c.append(t, 30, 500<<10)
	c.add(s, 0, 16)
	run(t, s)
	c.await(t, 16)
	c.add(s, 16, 17)
	c.await(t, 17)
	late := c.conn.Segments(c.id)
	c.add(late, 17, 20)
	c.add(late, 20, 30) // beyond the bound of 8 MiB there would be a gap
	for range 300 {
		late.Add(1<<40, make([]byte, 100<<10))
	}
	run(t, late)
	c.add(s, 17, 18)
	c.await(t, 18)
}

// A log is removed with its segments.
func TestRemove(t *testing.T) {
	t.Parallel()
	c := newCopying(t)
	s := c.conn.Segments(c.id)
	run(t, s)
	c.append(t, 300, 10)
	c.add(s, 0, 300)
	c.await(t, 300)
	if err := c.conn.Remove(t.Context(), c.id); err != nil {
		t.Fatal(err)
	}
	c.all = nil
	c.await(t, 0)
}

// Wrong segments are replaced. A plain reader gets none until then.
func TestReplaceSegments(t *testing.T) {
	t.Parallel()
	c := newCopying(t)
	s := c.conn.Segments(c.id)
	c.append(t, 300, 10)
	for i := range 256 {
		s.Add(c.all[i].sequence, []byte("wrong"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	first := func(plain bool) (copied bool) {
		tail := c.conn.Tail(c.id, 0)
		defer tail.Close()
		if plain {
			tail.Plain()
		}
		if _, _, err := tail.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		return tail.Copied()
	}
	for deadline := time.Now().Add(20 * time.Second); !first(false); {
		if time.Now().After(deadline) {
			t.Fatal("no segment")
		}
	}
	if first(true) {
		t.Error("a plain reader got a segment")
	}
	cancel()
	<-ended
	right := c.conn.Segments(c.id)
	right.Replace()
	c.add(right, 0, 300)
	run(t, right)
	for deadline := time.Now().Add(20 * time.Second); ; {
		tail := c.conn.Tail(c.id, 0)
		_, message, err := tail.Next(t.Context())
		tail.Close()
		if err != nil {
			t.Fatal(err)
		}
		if string(message) != "wrong" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the wrong segment stays")
		}
	}
	c.await(t, 300)
}

// The owner of a log copies its messages, and a reader gets them from there.
func ExampleSegments() {
	conn, end := startExample()
	defer end()
	id := lockstep.MatchID{1}
	var segments *storage.Segments = conn.Segments(id)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go segments.Run(ctx)
	_, subject := conn.LogOf(id)
	for i := range 300 {
		ack, err := conn.JS.Publish(ctx, subject, fmt.Append(nil, "tick ", i))
		if err != nil {
			panic(err)
		}
		segments.Add(ack.Sequence, fmt.Append(nil, "tick ", i))
	}
	for {
		tail := conn.Tail(id, 0)
		_, message, err := tail.Next(ctx)
		copied := tail.Copied()
		tail.Close()
		if copied {
			fmt.Println(string(message), err)
			return
		}
	}
	// Output: tick 0 <nil>
}
