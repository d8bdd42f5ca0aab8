//go:build !js

package mirror_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A writer hosts a match of lamps, and writes its records into the replicated log.
type writer struct {
	t       *testing.T
	conn    *storage.Conn
	subject string
	game    *lockstep.Game
	owner   *ownership.Owner
	h       *host.Host
	options host.Options
	unsaid  bool // the log does not say who may see the match
	epoch   time.Time
	stop    chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	log    [][]byte
	hashes map[lockstep.Tick]uint64
	stored uint64        // sequence of the last message
	told   lockstep.Tick // about then
}

func newWriter(t *testing.T, conn *storage.Conn, rules lockstep.Rules[testgame.Lamps, testgame.Nobody], o host.Options) *writer {
	w := &writer{t: t, conn: conn, game: lockstep.MustGame(rules), options: o, epoch: time.Now(), hashes: map[lockstep.Tick]uint64{}}
	s := lockstep.DefaultSettings(2)
	s.TickMicros, s.CheckEvery, s.KeyframeEvery = lockstep.TickPeriod(40), 10, 40
	header, err := w.game.NewHeader(lockstep.MatchID{9}, s, &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	w.options.Random, w.options.Bots = func(b []byte) { b[0] = 1 }, []lockstep.Bot{func(s *lockstep.Simulation) []any {
		if s.Tick()%3 != 0 {
			return nil
		}
		return []any{&testgame.Press{Lamp: uint8(s.Tick() / 3 % 4)}}
	}}
	_, w.subject = conn.LogOf(header.Match)
	if w.h, err = host.New(w.game, header, w.options); err != nil {
		t.Fatal(err)
	}
	w.owner = ownership.Claim("first", ownership.End{}, 4<<10)
	return w
}

func (w *writer) now() lockstep.Time { return lockstep.Time(time.Since(w.epoch).Microseconds()) }

// run runs the match until halt.
func (w *writer) run() {
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(w.done)
		for {
			select {
			case <-w.stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			w.h.Advance(w.now())
			if !w.drain() {
				return
			}
		}
	}()
}

func (w *writer) halt() { close(w.stop); <-w.done }

// drain stores what the host has, before anybody may see it.
func (w *writer) drain() bool {
	for r := w.h.Ready(); !r.Empty(); r = w.h.Ready() {
		w.mu.Lock()
		for _, b := range r.Records {
			w.log = append(w.log, slices.Clone(b))
			w.owner.Append(b)
			if len(w.log) == 2 && !w.unsaid {
				w.log = append(w.log, w.h.Disclosure().Event())
				w.owner.Append(w.log[2])
			}
		}
		sim := w.h.Referee().Simulation()
		w.hashes[sim.Tick()] = sim.Hash()
		w.mu.Unlock()
		if !w.store() {
			return false
		}
		w.h.Persisted(w.now(), r.Position)
	}
	return true
}

// store does the owner's steps.
func (w *writer) store() bool {
	for {
		step := w.owner.Next()
		switch step.Do {
		case ownership.Nothing:
			return !w.owner.Lost()
		case ownership.Append:
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			ack, err := w.conn.JS.Publish(ctx, w.subject, step.Message, jetstream.WithExpectLastSequencePerSubject(step.Expect))
			cancel()
			if err != nil {
				w.t.Errorf("append: %v", err)
				return false
			}
			w.owner.Accepted(ack.Sequence)
			w.mu.Lock()
			w.stored, w.told = ack.Sequence, w.h.Referee().Simulation().Tick()
			w.mu.Unlock()
		default:
			w.t.Errorf("got the step %v", step.Do)
			return false
		}
	}
}

// takeOver lets another server go on with the match, from its log.
func (w *writer) takeOver() {
	r := host.NewRecovery(w.game)
	for _, b := range w.log {
		if err := r.Append(b); err != nil {
			w.t.Fatal(err)
		}
	}
	var err error
	if w.h, err = r.Host(w.now(), w.options); err != nil {
		w.t.Fatal(err)
	}
	w.owner = ownership.Claim("second", w.owner.End(), 4<<10)
}

// newStorage starts a node, and returns a function that connects to it. The first connection must be that of "server".
func newStorage(t *testing.T) func(name string) *storage.Conn {
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	return func(name string) *storage.Conn {
		conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if name != "server" {
			if err := conn.Learn(ctx); err != nil {
				t.Fatal(err)
			}
			return conn
		}
		if err := conn.Setup(ctx, storage.Layout{}); err != nil {
			t.Fatal(err)
		}
		return conn
	}
}

// list puts the match into the directory.
func (w *writer) list(name string) {
	matches, err := w.conn.JS.KeyValue(w.t.Context(), storage.MatchesBucket)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := matches.PutString(w.t.Context(), name, `{"name": "`+name+`", "id": "`+w.h.Header().Match.String()+`"}`); err != nil {
		w.t.Fatal(err)
	}
}

// Spectators watch a match at two mirrors that read its replicated log, while another server takes the match over. No spectator
// notices that.
func TestCluster(t *testing.T) {
	t.Parallel()
	dial := newStorage(t)
	w := newWriter(t, dial("server"), testgame.LampRules, host.Options{})
	find := func(context.Context, string) (lockstep.MatchID, error) { return lockstep.MatchID{9}, nil }
	w.list("duel")
	first, one, _ := newMirror(t, mirror.Options{Source: mirror.Cluster{Conn: dial("mirror")}})
	_, two, _ := newMirror(t, mirror.Options{Source: mirror.Cluster{Conn: dial("another"), Find: find}})
	if _, err := first.Follow(t.Context(), "other"); !errors.Is(err, mirror.ErrNoMatch) {
		t.Errorf("got %v, want no match", err)
	}
	w.run()
	all := []*watcher{watch(t, w.game, one, nil)}
	eventually(t, "a watcher at tick 60", func() bool { return all[0].tick() >= 60 })
	all = append(all, watch(t, w.game, two, nil))
	eventually(t, "a second watcher", func() bool { return all[1].tick() >= 80 })
	w.halt()
	w.takeOver()
	at := all[0].tick()
	w.run()
	eventually(t, "the watchers after the takeover", func() bool { return all[0].tick() >= at+60 && all[1].tick() >= at+60 })
	w.halt()
	if err := w.h.Admin().End(w.now(), "enough"); err != nil {
		t.Fatal(err)
	}
	w.h.Advance(w.now())
	if !w.drain() {
		t.Fatal("the end is not stored")
	}
	compared := 0
	for i, x := range all {
		if err := x.s.Wait(); err != nil || x.ended != "enough" || x.synced != 1 {
			t.Errorf("watcher %d: %q, %v, synced %d times", i, x.ended, err, x.synced)
		}
		for tick, hash := range x.hashes {
			want, known := w.hashes[tick]
			if compared++; known && want != hash {
				t.Errorf("watcher %d: tick %d: got %x, want %x", i, tick, hash, want)
			}
		}
	}
	if compared < 60 {
		t.Errorf("compared %d states, want 60 or more", compared)
	}
	equal(t, all...)
}
