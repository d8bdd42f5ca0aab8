package cluster_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// A longLog writes the log of a match, a message for each tick, without a server.
type longLog struct {
	id      lockstep.MatchID
	conn    *storage.Conn
	owner   *ownership.Owner
	subject string
	copies  *storage.Segments // or nil
	records testgame.Records
	c       *coordinator.Coordinator
}

func newLongLog(tb testing.TB, conn *storage.Conn, name string) *longLog {
	tb.Helper()
	l := &longLog{conn: conn, owner: ownership.Claim("lost", ownership.End{}, storage.MaxMessage)}
	rand.Read(l.id[:])
	_, l.subject = conn.LogOf(l.id)
	spec := duel(name)
	h, err := spec.Game.NewHeader(l.id, spec.Settings, spec.Config)
	if err != nil {
		tb.Fatal(err)
	}
	if l.c, err = coordinator.New(spec.Game, h, &l.records, coordinator.Options{}); err != nil {
		tb.Fatal(err)
	}
	return l
}

// tick plays a tick and stores its records.
func (l *longLog) tick(tb testing.TB) {
	if _, err := l.c.Tick(); err != nil {
		tb.Fatal(err)
	}
	l.owner.Append(bytes.Join(l.records, nil))
	l.records = nil
	for step := l.owner.Next(); step.Do != ownership.Nothing; step = l.owner.Next() {
		ack, err := l.conn.JS.Publish(tb.Context(), l.subject, step.Message, jetstream.WithExpectLastSequencePerSubject(step.Expect))
		if err != nil {
			tb.Fatal(err)
		}
		if l.copies != nil {
			l.copies.Add(ack.Sequence, step.Message)
		}
		l.owner.Accepted(ack.Sequence)
	}
}

// release lets any server take the match.
func (l *longLog) release(tb testing.TB, name string) {
	tb.Helper()
	game := duel(name).Game
	e, err := json.Marshal(cluster.Match{Name: name, ID: l.id.String(), Game: game.Name(), Build: game.Build(), Entry: ownership.Entry{Server: "lost", State: ownership.Released, Term: 1}})
	if err != nil {
		tb.Fatal(err)
	}
	bucket, err := l.conn.JS.KeyValue(tb.Context(), storage.MatchesBucket)
	if err == nil {
		_, err = bucket.Put(tb.Context(), name, e)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// read returns the sequences of the log, and how many of them were read from segments.
func (l *longLog) read(tb testing.TB) (sequences []uint64, copied int) {
	tb.Helper()
	tail := l.conn.Tail(l.id, 0)
	defer tail.Close()
	for {
		sequence, _, err := tail.Next(tb.Context())
		if errors.Is(err, io.EOF) {
			return sequences, copied
		}
		if err != nil {
			tb.Fatal(err)
		}
		sequences = append(sequences, sequence)
		if tail.Copied() {
			copied++
		}
	}
}

// A takeover reads most of a long log from segments, and the new owner writes more of them. However late they are written, fewer than
// 256 messages are in none.
func TestTakeoverOfSegments(t *testing.T) {
	t.Parallel()
	testSegments(t, func(*longLog) {}, func(copied int) bool { return copied > 600-256 })
}

// Wrong segments are left alone: the log itself says what is in the match.
func TestWrongSegments(t *testing.T) {
	t.Parallel()
	testSegments(t, func(l *longLog) {
		wrong := l.conn.Segments(l.id)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for i := range 256 {
			wrong.Add(uint64(i+1), []byte("never was in the log"))
		}
		go wrong.Run(ctx)
		await(t, "a wrong segment", func() bool {
			_, copied := l.read(t)
			return copied > 0
		})
	}, func(int) bool { return true })
}

func testSegments(t *testing.T, before func(*longLog), enough func(copied int) bool) {
	node := startNode(t, t.TempDir(), "") // whose sequences begin with 1
	a := newSite(t, "a", node.URL(), 1)
	l := newLongLog(t, a.conn, "long")
	before(l)
	l.copies = a.conn.Segments(l.id)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go l.copies.Run(ctx)
	for range 600 {
		l.tick(t)
	}
	await(t, "segments", func() bool {
		_, copied := l.read(t)
		return enough(copied)
	})
	cancel()
	l.release(t, "long")
	await(t, "a has the match", func() bool { return a.has("long") != nil })
	await(t, "it goes on", func() bool { return a.has("long").Status().Tick > 605 })
}

var (
	benchTicks  = flag.Int("ticks", 2400, "length of the log in BenchmarkTakeover")
	benchOthers = flag.Int("others", 20, "other matches in its stream")
)

// The storage has lost the end of a log, as in a power cut, but not the segment that has it. The match continues where the log
// ends, also at the next takeover.
func TestSegmentsAhead(t *testing.T) {
	t.Parallel()
	node := startNode(t, t.TempDir(), "") // whose sequences begin with 1
	a := newSite(t, "a", node.URL(), 1)
	l := newLongLog(t, a.conn, "long")
	l.copies = a.conn.Segments(l.id)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go l.copies.Run(ctx)
	for range 300 {
		l.tick(t)
	}
	await(t, "segments", func() bool {
		_, copied := l.read(t)
		return copied > 0
	})
	cancel()
	loseEnd(t, a.conn, l.id, 236)
	l.release(t, "long")
	await(t, "a has the match", func() bool { return a.has("long") != nil })
	await(t, "it goes on", func() bool { return a.has("long").Status().Tick > 240 })
	b := newSite(t, "b", node.URL(), 1)
	await(t, "b knows the match", func() bool { return len(b.list(t, "")) == 1 })
	a.vanish()
	await(t, "b has the match", func() bool { return b.has("long") != nil })
}

// loseEnd leaves only the first messages of the stream in which a log is.
func loseEnd(t *testing.T, conn *storage.Conn, id lockstep.MatchID, keep uint64) {
	t.Helper()
	name, _ := conn.LogOf(id)
	stream, err := conn.JS.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	var kept []*jetstream.RawStreamMsg
	for i := range keep {
		m, err := stream.GetMsg(t.Context(), i+1)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, m)
	}
	c := stream.CachedInfo().Config
	if err = conn.JS.DeleteStream(t.Context(), name); err == nil {
		_, err = conn.JS.CreateStream(t.Context(), c)
	}
	for _, m := range kept {
		if err == nil {
			_, err = conn.JS.Publish(t.Context(), m.Subject, m.Data)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkTakeover measures the time from a match without a server until another server plays it:
//
//	go test ./cluster -run - -bench Takeover -benchtime 1x -args -ticks 72000 -others 124
func BenchmarkTakeover(b *testing.B) {
	for _, segments := range []bool{false, true} {
		b.Run(fmt.Sprintf("segments=%v", segments), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				benchmarkTakeover(b, segments)
			}
		})
	}
}

func benchmarkTakeover(b *testing.B, segments bool) {
	node, err := storage.StartNode(storage.NodeOptions{Name: "node", Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer node.Stop()
	a := newSite(b, "a", node.URL(), 1)
	l := newLongLog(b, a.conn, "long")
	if segments {
		l.copies = a.conn.Segments(l.id)
		go l.copies.Run(b.Context())
	}
	stream, _ := l.conn.LogOf(l.id)
	var subjects []string
	for len(subjects) < *benchOthers {
		var id lockstep.MatchID
		rand.Read(id[:])
		if s, subject := l.conn.LogOf(id); s == stream {
			subjects = append(subjects, subject)
		}
	}
	for range *benchTicks {
		for _, s := range subjects {
			if _, err := l.conn.JS.PublishAsync(s, make([]byte, 40)); err != nil {
				b.Fatal(err)
			}
		}
		l.tick(b)
	}
	<-l.conn.JS.PublishAsyncComplete()
	b.StartTimer()
	l.release(b, "long")
	for a.has("long") == nil {
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	a.stop(b)
}
