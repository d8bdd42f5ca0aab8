package storage_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// aNode starts a node, and returns a function that connects to it.
func aNode(t *testing.T) (dial func() *storage.Conn) {
	t.Helper()
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	return func() *storage.Conn { return dialAt(t, node.URL()) }
}

// dialAt connects to a node until the test is over.
func dialAt(t *testing.T, url string) *storage.Conn {
	t.Helper()
	conn, err := storage.Dial(url, storage.DialOptions{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// logsOf returns where a connection looks for the logs of some matches.
func logsOf(conn *storage.Conn) (all [64]string) {
	for i := range all {
		_, all[i] = conn.LogOf(lockstep.MatchID{byte(i)})
	}
	return all
}

// A made is JetStream that calls a function before each stream is made.
type made struct {
	jetstream.JetStream
	before func(name string)
}

func (m *made) CreateStream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	m.before(c.Name)
	return m.JetStream.CreateStream(ctx, c)
}

// A reader that starts before the streams are made, or after any number of them, looks where the server writes.
func TestLearnWhileStreamsAreMade(t *testing.T) {
	t.Parallel()
	dial := aNode(t)
	server := dial()
	ctx := within(t, 30*time.Second)
	learned := make(chan logs)
	learn := func(when string) {
		conn := dial()
		go func() {
			if err := conn.Learn(ctx); err != nil {
				learned <- logs{when: when, err: err}
				return
			}
			learned <- logs{when, logsOf(conn), nil}
		}()
		select { // with what it finds now, unless it waits
		case l := <-learned:
			go func() { learned <- l }()
		case <-time.After(100 * time.Millisecond):
		}
	}
	readers := 0
	server.JS = &made{server.JS, func(name string) { readers++; learn("before " + name) }}
	if err := server.Setup(ctx, storage.Layout{Streams: 5}); err != nil {
		t.Fatal(err)
	}
	readers++
	learn("after Setup")
	if readers < 5+3 {
		t.Errorf("got %d readers, want one for each stream", readers)
	}
	for range readers {
		l := <-learned
		if l.err != nil || l.all != logsOf(server) {
			t.Errorf("a reader that starts %s looks elsewhere: %v", l.when, l.err)
		}
	}
}

type logs struct {
	when string
	all  [64]string
	err  error
}

// Whoever makes the first stream decides, in any order of those who begin at once. The others use what it has decided, or refuse to.
func TestLayoutIsDecidedOnce(t *testing.T) {
	t.Parallel()
	dial := aNode(t)
	ctx := within(t, 30*time.Second)
	conns, errs := make([]*storage.Conn, 8), make([]error, 8)
	var all sync.WaitGroup
	for i := range conns {
		conns[i] = dial()
		all.Go(func() { errs[i] = conns[i].Setup(ctx, storage.Layout{Streams: i % 4 * 2}) }) // 0 is any
	}
	all.Wait()
	reader := dial()
	if err := reader.Learn(ctx); err != nil {
		t.Fatal(err)
	}
	agreed := 0
	for i, err := range errs {
		switch {
		case err == nil && logsOf(conns[i]) == logsOf(reader):
			agreed++
		case err == nil || !errors.Is(err, storage.ErrLayout) || i%4 == 0:
			t.Errorf("the program that asks for %d streams: got %v", i%4*2, err)
		}
	}
	if agreed < 2 || agreed == len(errs) {
		t.Errorf("%d of %d programs agree, want some", agreed, len(errs))
	}
}

// A layout that nobody could have written is refused.
func TestLayoutOfOthers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "0", "17", "four"} {
		conn, ctx := aNode(t)(), within(t, 20*time.Second)
		if _, err := conn.JS.CreateStream(ctx, jetstream.StreamConfig{
			Name: "samestep-log-segments", Subjects: []string{"samestep.log.segments.*"}, Metadata: map[string]string{"samestep-log-streams": text},
		}); err != nil {
			t.Fatal(err)
		}
		if err := conn.Learn(ctx); !errors.Is(err, storage.ErrLayout) {
			t.Errorf("%q: got %v, want %v", text, err, storage.ErrLayout)
		}
	}
}
