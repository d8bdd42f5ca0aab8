//go:build !js && !wasip1

package farm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(runRole(role))
	}
	testenv.Overlap(8)
	goleak.VerifyTestMain(m)
}

// build is the build of the tests' jobs.
const build = "patch 7"

// dotsGame returns the game of the tests' replays.
func dotsGame(f *replay.File) (*lockstep.Game, error) {
	return replay.Games{lockstep.MustGame(dots.Rules())}.OfFile(f)
}

// A cluster is a storage node in this process, which can be stopped and started.
type cluster struct {
	t    testing.TB
	dir  string
	node *storage.Node
	conn *storage.Conn
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir()}
	c.start("")
	t.Cleanup(func() { c.node.Stop() })
	c.conn = c.dial()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := c.conn.Setup(ctx, storage.Layout{}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cluster) start(listen string) {
	c.t.Helper()
	var err error
	if c.node, err = storage.StartNode(storage.NodeOptions{Name: "a", Dir: c.dir, Listen: listen}); err != nil {
		c.t.Fatal(err)
	}
}

// restart stops the node, and starts it on its files after a while.
func (c *cluster) restart(away time.Duration) {
	c.t.Helper()
	address := strings.TrimPrefix(c.node.URL(), "nats://")
	c.node.Stop()
	time.Sleep(away)
	c.start(address)
}

func (c *cluster) dial() *storage.Conn {
	c.t.Helper()
	conn, err := storage.Dial(c.node.URL(), storage.DialOptions{Name: "test"})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(conn.Close)
	return conn
}

// work starts a worker, and returns a function that stops it.
func (c *cluster) work(work func(context.Context, *storage.Conn, farm.WorkerOptions) error, o farm.WorkerOptions) (stop func()) {
	c.t.Helper()
	if o.Game == nil {
		o.Game = dotsGame
	}
	o.Build = build
	conn := c.dial()
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() { done <- work(ctx, conn, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.t.Error(err)
		}
		conn.Close()
	})
	c.t.Cleanup(stop)
	return stop
}

// submit submits a folder.
func (c *cluster) submit(dir string) farm.Submitted {
	c.t.Helper()
	sent, err := farm.Submit(c.t.Context(), c.conn, dir, farm.SubmitOptions{Build: build})
	if err != nil {
		c.t.Fatal(err)
	}
	return sent
}

// results waits until no job is left, and returns the results by file. It fails if a file has two.
func (c *cluster) results(limit time.Duration) map[string]farm.Result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	var last farm.Progress
	if err := farm.Watch(ctx, c.conn, build, 20*time.Millisecond, func(p farm.Progress) error {
		last = p
		return nil
	}); err != nil {
		c.t.Fatalf("%v, after %+v", err, last)
	}
	all := map[string]farm.Result{}
	for r, err := range farm.Results(ctx, c.conn, build) {
		if err != nil {
			c.t.Fatal(err)
		}
		if _, twice := all[r.File]; twice {
			c.t.Errorf("%s is listed twice", r.File)
		}
		all[r.File] = r
	}
	if last.Done != len(all) || last.Left != 0 {
		c.t.Errorf("got progress %+v, want %d results", last, len(all))
	}
	return all
}

// written returns how many results were ever stored, those that another one replaced included.
func (c *cluster) written() int {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	stream, err := c.conn.JS.Stream(ctx, "KV_"+storage.ResultsBucket)
	if err != nil {
		c.t.Fatal(err)
	}
	return int(stream.CachedInfo().State.LastSeq)
}

// folder writes replays into a folder.
func folder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// match returns the replay of a short match.
func match(t testing.TB, ticks int) []byte {
	t.Helper()
	_, file, _ := dots.Record(t, ticks, replay.WriterOptions{})
	return file
}

// matches returns n short replays.
func matches(t testing.TB, n int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for i := range n {
		files[fmt.Sprintf("m%05d.ssr", i)] = match(t, 60+i%40)
	}
	return files
}

// The result of each file is what replay verify says of it.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	good := match(t, 200)
	files := map[string][]byte{
		"ok.ssr":       good,
		"sub/ok.ssr":   match(t, 90),
		"torn.ssr":     good[:len(good)*2/3],
		"garbage.ssr":  []byte("not a replay at all"),
		"empty.ssr":    nil,
		"live/log.ssr": good, // of a match that is not over
		"note.txt":     nil,
		"identity.ssr": dots.Rewrite(t, good, func(r *record.Record) {
			if r.Kind == record.KindHeader {
				r.Header.Build = "2"
			}
		}),
		"desync.ssr": dots.Rewrite(t, good, func(r *record.Record) {
			if r.Kind == record.KindChecksum && r.Tick >= 110 {
				r.Hash++
			}
		}),
	}
	c := newCluster(t)
	dir := folder(t, files)
	if sent := c.submit(dir); sent != (farm.Submitted{Files: 7, Uploaded: 7, Queued: 7}) {
		t.Errorf("submitted %+v", sent)
	}
	c.work(farm.Work, farm.WorkerOptions{Name: "w", Jobs: 2})
	got := c.results(20 * time.Second)
	for name := range files {
		r, ok := got["farm/"+name]
		if wanted := strings.HasSuffix(name, ".ssr") && !strings.HasPrefix(name, "live/"); ok != wanted {
			t.Errorf("%s: got a result: %v, want %v", name, ok, wanted)
			continue
		} else if !wanted {
			continue
		}
		f, err := replay.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		v, verr := desync.Verify(f, replay.Games{lockstep.MustGame(dots.Rules())}, replay.VerifyOptions{})
		f.Close()
		if want := replay.ClassOf(verr); r.Class != want || verr == nil && r.Error != "" || r.Worker != "w" || r.Build != build || r.Deliveries != 1 {
			t.Errorf("%s: got %+v, want the class %s", name, r, want)
		}
		if v.Verification != nil && r.Ticks != v.Ticks {
			t.Errorf("%s: got %d ticks, want %d", name, r.Ticks, v.Ticks)
		}
	}
	if r := got["farm/desync.ssr"]; r.Class != replay.ClassDesync || r.Tick != 110 || r.Party != desync.WrongBuild {
		t.Errorf("got %+v, want a desync of the build at tick 110", r)
	}
}

// Submitting again sends nothing again, and a name stands for one content.
func TestSubmitAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	dir := folder(t, matches(t, 3))
	c.submit(dir)
	if sent := c.submit(dir); sent != (farm.Submitted{Files: 3}) {
		t.Errorf("jobs in the queue: %+v", sent)
	}
	stop := c.work(farm.Work, farm.WorkerOptions{UntilEmpty: true})
	c.results(10 * time.Second)
	stop()
	if sent := c.submit(dir); sent != (farm.Submitted{Files: 3, Known: 3}) {
		t.Errorf("jobs with results: %+v", sent)
	}
	if sent, err := farm.SubmitArchive(t.Context(), c.conn, farm.SubmitOptions{Build: "other"}); err != nil || sent != (farm.Submitted{Files: 3, Queued: 3}) {
		t.Errorf("another build: %+v, %v", sent, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m00001.ssr"), match(t, 7), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := farm.Submit(t.Context(), c.conn, dir, farm.SubmitOptions{Build: build}); !errors.Is(err, farm.ErrOther) {
		t.Errorf("another content: got %v, want %v", err, farm.ErrOther)
	}
	for _, bad := range []string{"", strings.Repeat("x", 129), "\xff"} {
		if _, err := farm.Submit(t.Context(), c.conn, dir, farm.SubmitOptions{Build: bad}); err == nil {
			t.Errorf("the build %q was accepted", bad)
		}
	}
}

// A file whose rules panic is set aside, and does not stop the others. So is one that is gone.
func TestPoison(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	files := matches(t, 4)
	files["bad.ssr"] = dots.Rewrite(t, match(t, 50), func(r *record.Record) {
		if r.Kind == record.KindHeader {
			r.Header.Match = lockstep.MatchID{66}
		}
	})
	c.submit(folder(t, files))
	if err := objects.New(c.conn).Delete(t.Context(), "farm/m00002.ssr"); err != nil {
		t.Fatal(err)
	}
	var tries atomic.Int32
	c.work(farm.Work, farm.WorkerOptions{MaxDeliver: 2, Jobs: 1, Game: func(f *replay.File) (*lockstep.Game, error) {
		if h, _ := f.Header(); h.Match == (lockstep.MatchID{66}) {
			tries.Add(1)
			panic("the unit has no target")
		}
		return dotsGame(f)
	}})
	got := c.results(20 * time.Second)
	if r := got["farm/bad.ssr"]; r.Class != farm.ClassPoison || !strings.Contains(r.Error, "panic: the unit has no target") || r.Deliveries != 2 || tries.Load() != 2 {
		t.Errorf("got %+v after %d tries", r, tries.Load())
	}
	if r := got["farm/m00002.ssr"]; r.Class != farm.ClassMissing {
		t.Errorf("a file that is gone: got %+v", r)
	}
	for _, name := range []string{"farm/m00000.ssr", "farm/m00001.ssr", "farm/m00003.ssr"} {
		if r := got[name]; r.Class != replay.ClassOK {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

// Two workers that have the same job at the same time give one result. Control: workers that write over each other's
// results are found.
func TestDoubledDelivery(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		work func(context.Context, *storage.Conn, farm.WorkerOptions) error
		want int
	}{"create": {farm.Work, 1}, "control: put": {farm.WorkCareless, 2}} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			if err := objects.New(c.conn).Write(t.Context(), "a.ssr", match(t, 80)); err != nil {
				t.Fatal(err)
			}
			if err := farm.PublishTwice(t.Context(), c.conn, "a.ssr", build); err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			both.Add(2)
			game := func(f *replay.File) (*lockstep.Game, error) {
				both.Done()
				both.Wait() // both are at work, and neither has a result
				return dotsGame(f)
			}
			var told atomic.Int32
			for range 2 {
				c.work(row.work, farm.WorkerOptions{Jobs: 1, Game: game, Done: func(farm.Result) { told.Add(1) }})
			}
			if got := c.results(20 * time.Second); len(got) != 1 || got["a.ssr"].Class != replay.ClassOK {
				t.Errorf("got %+v", got)
			}
			if got := c.written(); got != row.want || int(told.Load()) != row.want {
				t.Errorf("%d results were written and %d told, want %d", got, told.Load(), row.want)
			}
		})
	}
}

// A worker that begins, or works, while the storage is away waits, and goes on.
func TestOutage(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	files := matches(t, 20)
	c.submit(folder(t, files))
	slow := func(f *replay.File) (*lockstep.Game, error) {
		time.Sleep(30 * time.Millisecond)
		return dotsGame(f)
	}
	o := farm.WorkerOptions{Jobs: 1, Game: slow, AckWait: time.Second}
	c.work(farm.Work, o)
	time.Sleep(150 * time.Millisecond)
	c.restart(300 * time.Millisecond)
	c.work(farm.Work, o)
	for _, r := range c.results(30 * time.Second) {
		if r.Class != replay.ClassOK {
			t.Errorf("got %+v", r)
		}
	}
	if got := c.written(); got != len(files) {
		t.Errorf("%d results were written, want %d", got, len(files))
	}
}

// A worker that is stopped gives its job back at once.
func TestStop(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.submit(folder(t, matches(t, 1)))
	began := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := c.work(farm.Work, farm.WorkerOptions{Jobs: 1, AckWait: time.Hour, Game: func(f *replay.File) (*lockstep.Game, error) {
		began <- struct{}{}
		<-ctx.Done()
		panic("stopped")
	}})
	<-began
	go func() {
		time.Sleep(50 * time.Millisecond) // after stop has begun
		cancel()
	}()
	stop()
	c.work(farm.Work, farm.WorkerOptions{Jobs: 1, AckWait: time.Hour})
	if got := c.results(10 * time.Second)["farm/m00000.ssr"]; got.Class != replay.ClassOK || got.Deliveries != 2 {
		t.Errorf("got %+v", got)
	}
}

// What is no job is dropped.
func TestNotAJob(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	subject := storage.JobsSubject + ".cGF0Y2ggNw" // of the build
	for _, text := range []string{"", "{", `{"file":""}`, `{"file":"a.ssr","build":"another"}`, strings.Repeat("[", 100_000)} {
		if _, err := c.conn.JS.Publish(t.Context(), subject, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	c.work(farm.Work, farm.WorkerOptions{})
	if got := c.results(10 * time.Second); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// The storage keeps the large parts of jobs away from the queue.
func TestQueueIsSmall(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.submit(folder(t, map[string][]byte{"a.ssr": bytes.Repeat([]byte("x"), 1<<20)}))
	var stream jetstream.Stream
	stream, err := c.conn.JS.Stream(t.Context(), storage.JobsStream)
	if err != nil || stream.CachedInfo().State.Bytes > 1000 {
		t.Errorf("got %+v, %v", stream.CachedInfo().State, err)
	}
}
