package storage_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A mirror finds a match and reads its log.
func TestMirrorReads(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	server, mirror := s.dial(t, storage.ServerRole), s.dial(t, storage.MirrorRole)
	ctx := within(t, 20*time.Second)
	if err := errors.Join(server.Learn(ctx), mirror.Learn(ctx)); err != nil {
		t.Fatal(err)
	}
	matches, err := server.JS.KeyValue(ctx, storage.MatchesBucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := matches.Create(ctx, "duel", []byte("its entry")); err != nil {
		t.Fatal(err)
	}
	if matches, err = mirror.JS.KeyValue(ctx, storage.MatchesBucket); err != nil {
		t.Fatal(err)
	}
	if e, err := matches.Get(ctx, "duel"); err != nil || string(e.Value()) != "its entry" {
		t.Fatal(e, err)
	}
	id := lockstep.MatchID{7}
	_, subject := server.LogOf(id)
	tail := mirror.Tail(id, 0)
	defer tail.Close()
	if _, _, err := tail.Next(ctx); err != io.EOF {
		t.Fatalf("an empty log: got %v, want io.EOF", err)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := server.JS.Publish(ctx, subject, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"one", "two"} {
		if seq, got, err := tail.Next(ctx); err != nil || string(got) != want || seq != uint64(i+1) {
			t.Fatalf("got %q at %d, %v; want %q", got, seq, err, want)
		}
	}
	if _, _, err := tail.Next(ctx); err != io.EOF {
		t.Fatalf("the end: got %v, want io.EOF", err)
	}
	if _, err := mirror.Head(ctx, id); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Fatalf("the head of a log without one: %v", err)
	}
	if err := server.TellHead(id, storage.Head{Sequence: 2, Tick: 40}); err != nil {
		t.Fatal(err)
	}
	for h := (storage.Head{}); h.Sequence != 2 || h.Tick != 40; {
		if h, err = mirror.Head(ctx, id); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			t.Fatal(err)
		}
	}
	if err := server.Remove(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := mirror.Head(ctx, id); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Fatalf("the head of a log that is removed: %v", err)
	}
}

// A worker takes the jobs of an operator, reads the replay, and writes the result, for which the operator waits.
func TestWorkerWorks(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	operator, worker := s.dial(t, storage.OperatorRole), s.dial(t, storage.WorkerRole)
	ctx := within(t, 30*time.Second)
	submit(t, operator, "one", "two")
	results, err := operator.JS.KeyValue(ctx, storage.ResultsBucket)
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := results.Watch(ctx, "build.*", jetstream.UpdatesOnly())
	if err != nil {
		t.Fatal(err)
	}
	queue, err := worker.JS.Consumer(ctx, storage.JobsStream, "farm-build")
	if err != nil {
		t.Fatal(err)
	}
	if results, err = worker.JS.KeyValue(ctx, storage.ResultsBucket); err != nil {
		t.Fatal(err)
	}
	var done []string
	for returned := false; len(done) < 2; {
		m, err := queue.Next(jetstream.FetchMaxWait(2 * time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.InProgress(); err != nil {
			t.Fatal(err)
		}
		if !returned {
			returned = true
			if err := m.Nak(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		file := string(m.Data())
		if got := readObject(t, worker, file); got != "replay of "+file {
			t.Fatalf("got %q", got)
		}
		if _, err := results.Get(ctx, "build."+file); !errors.Is(err, jetstream.ErrKeyNotFound) {
			t.Fatal(err)
		}
		if _, err := results.Create(ctx, "build."+file, []byte("ok")); err != nil {
			t.Fatal(err)
		}
		if _, err := results.Create(ctx, "build."+file, []byte("ok")); !errors.Is(err, jetstream.ErrKeyExists) {
			t.Fatalf("a second result: %v", err)
		}
		if err := m.DoubleAck(ctx); err != nil {
			t.Fatal(err)
		}
		done = append(done, (<-watcher.Updates()).Key())
	}
	slices.Sort(done)
	if !slices.Equal(done, []string{"build.one", "build.two"}) {
		t.Error(done)
	}
	if _, err := queue.Next(jetstream.FetchMaxWait(100 * time.Millisecond)); !errors.Is(err, nats.ErrTimeout) {
		t.Errorf("got %v, want no job", err)
	}
	jobs, err := worker.JS.Stream(ctx, storage.JobsStream)
	if err != nil || jobs.CachedInfo().State.Msgs != 0 {
		t.Errorf("jobs are left: %v", err)
	}
}

// submit does what the farm's operator does.
func submit(t *testing.T, operator *storage.Conn, files ...string) {
	t.Helper()
	ctx := within(t, 20*time.Second)
	replays, err := operator.JS.ObjectStore(ctx, storage.ReplaysBucket)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, err := replays.PutBytes(ctx, f, []byte("replay of "+f)); err != nil {
			t.Fatal(err)
		}
		if _, err := operator.JS.Publish(ctx, storage.JobsSubject+".build", []byte(f), jetstream.WithMsgID(f)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := operator.JS.CreateOrUpdateConsumer(ctx, storage.JobsStream, jetstream.ConsumerConfig{
		Durable: "farm-build", FilterSubject: storage.JobsSubject + ".build", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, MaxDeliver: -1,
	}); err != nil {
		t.Fatal(err)
	}
}

// readObject reads an object of one chunk by requests alone, as package objects does.
func readObject(t *testing.T, conn *storage.Conn, name string) string {
	t.Helper()
	ctx := within(t, 10*time.Second)
	stream, err := conn.JS.Stream(ctx, "OBJ_"+storage.ReplaysBucket)
	if err != nil {
		t.Fatal(err)
	}
	replays, err := conn.JS.ObjectStore(ctx, storage.ReplaysBucket)
	if err != nil {
		t.Fatal(err)
	}
	info, err := replays.GetInfo(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.GetMsg(ctx, 1, jetstream.WithGetMsgSubject("$O."+storage.ReplaysBucket+".C."+info.NUID))
	if err != nil {
		t.Fatal(err)
	}
	return string(m.Data)
}

// An operator lists replays, and looks at the servers and matches.
func TestOperatorLooks(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	operator, server := s.dial(t, storage.OperatorRole), s.dial(t, storage.ServerRole)
	ctx := within(t, 20*time.Second)
	submit(t, operator, "one")
	for _, conn := range []*storage.Conn{operator, server} {
		replays, err := conn.JS.ObjectStore(ctx, storage.ReplaysBucket)
		if err != nil {
			t.Fatal(err)
		}
		list, err := replays.List(ctx)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
	}
	for _, bucket := range []string{storage.ServersBucket, storage.MatchesBucket} {
		kv, err := server.JS.KeyValue(ctx, bucket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.Put(ctx, "x", nil); err != nil {
			t.Fatal(err)
		}
		if kv, err = operator.JS.KeyValue(ctx, bucket); err != nil {
			t.Fatal(err)
		}
		if keys, err := kv.Keys(ctx); err != nil || len(keys) != 1 {
			t.Fatal(bucket, keys, err)
		}
	}
	replays, err := operator.JS.ObjectStore(ctx, storage.ReplaysBucket)
	if err != nil {
		t.Fatal(err)
	}
	if err := replays.Delete(ctx, "one"); err != nil {
		t.Fatal(err)
	}
}
