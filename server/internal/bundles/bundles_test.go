//go:build !js

package bundles

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
	"github.com/seed-49bee653/samestep/replay"
)

// A file is the log of a match, with all its bytes on the disk.
type file int64

func (f file) Flush() error                       { return nil }
func (f file) Size() int64                        { return int64(f) }
func (f file) Await(context.Context, int64) error { return nil }

type counter int

func (c *counter) Inc() { *c++ }

// A desk is a match's bundles, and what they told.
type desk struct {
	*Bundles
	header *lockstep.Header
	mu     sync.Mutex
	told   []string
	panics counter
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	game := lockstep.MustGame(testgame.LampRules)
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	w, e := replay.NewWriter(&log, replay.WriterOptions{}), record.Encoder{}
	if err := w.Append(e.Header(h)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "duel.ssr")
	if err := os.WriteFile(path, log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &desk{header: h}
	d.Bundles = New(Options{
		Log: file(log.Len()), Path: path, Prefix: filepath.Join(dir, "duel"), Most: 1, Logger: slog.New(slog.DiscardHandler), Panics: &d.panics,
		Told: func(path string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.told = append(d.told, filepath.Base(path))
		},
	})
	return d
}

func (d *desk) of(seat lockstep.Player, tick lockstep.Tick) *Case {
	return &Case{Evidence: &host.Evidence{Report: coordinator.DesyncReport{Tick: tick, Player: seat}}, Header: d.header, MaxBytes: 1 << 20}
}

// done returns the bundles that were told.
func (d *desk) done() []string {
	d.End()
	d.Wait()
	slices.Sort(d.told)
	return d.told
}

// A draft is told once, when it is complete or the match is over.
func TestDrafts(t *testing.T) {
	d := newDesk(t)
	d.Early(d.of(0, 20))
	d.Early(d.of(1, 30))
	if !d.Known(d.of(0, 20).Evidence) || d.Known(d.of(0, 30).Evidence) {
		t.Error("Known does not tell early reports from others")
	}
	d.Wait()
	if len(d.told) > 0 {
		t.Errorf("the drafts %q were told", d.told)
	}
	d.Write(d.of(0, 20))
	d.Wait()
	if want := []string{"duel-desync-20-player0.zip"}; !slices.Equal(d.told, want) {
		t.Errorf("got %q, want %q", d.told, want)
	}
	if got, want := d.done(), []string{"duel-desync-20-player0.zip", "duel-desync-30-player1.zip"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The first bundle about a player is written, whatever others did; no other one beyond the limits is, nor one of a refused draft.
func TestLimits(t *testing.T) {
	d := newDesk(t)
	for tick := lockstep.Tick(10); tick < 40; tick += 10 {
		d.Early(d.of(0, tick))
		d.Write(d.of(0, tick))
	}
	for seat := range lockstep.Player(6) {
		d.Write(d.of(1+seat, 50))
	}
	small := d.of(8, 60)
	small.MaxBytes = d.bytes + int64(d.Log.Size()) - 1
	d.Write(small)
	full := d.of(9, 70)
	full.MaxBytes, full.Contents = d.bytes+int64(d.Log.Size()), [][]byte{make([]byte, 100)}
	d.Write(full) // without the contents
	want := []string{"duel-desync-10-player0.zip"}
	for _, seat := range []string{"1", "2", "3", "4", "5", "6"} {
		want = append(want, "duel-desync-50-player"+seat+".zip")
	}
	want = append(want, "duel-desync-70-player9.zip")
	if got := d.done(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A panic of the operator's function ends no process.
func TestPanic(t *testing.T) {
	d := newDesk(t)
	d.Told = func(string) { panic("the operator's") }
	d.Write(d.of(0, 10))
	if d.done(); d.panics != 1 {
		t.Errorf("got %d panics, want 1", d.panics)
	}
}

// Two bundles of twins at one tick have different names, also after a crash.
func TestTwins(t *testing.T) {
	d := newDesk(t)
	d.Most = 2
	write := func() {
		d.Write(&Case{Evidence: host.TwinEvidence(&twin.Difference{Tick: 9, Since: 8}, lockstep.System, nil), Header: d.header, MaxBytes: 1 << 20})
	}
	write()
	write()
	d.Wait()
	o := d.Options
	d.Bundles = New(o)
	write()
	want := []string{"duel-twin-9-server-2.zip", "duel-twin-9-server-3.zip", "duel-twin-9-server.zip"}
	if got := d.done(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
