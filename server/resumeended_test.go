//go:build !js

package server_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A last is the result of a match that its rules end.
type last struct{ Tick uint32 }

// endingAt makes the rules end the match in a tick.
func endingAt(t lockstep.Tick) func(*lockstep.Rules[minimal.World, minimal.Config]) {
	return func(r *lockstep.Rules[minimal.World, minimal.Config]) {
		step := r.Step
		r.Result = lockstep.Result[last]()
		r.Step = func(w *minimal.World, c *minimal.Config, turn *lockstep.Turn) {
			if step(w, c, turn); turn.Tick == t {
				turn.End(&last{uint32(t)})
			}
		}
	}
}

// Wherever a crash cuts the log of a match that its rules have ended, the server that resumes it tells the players who
// come back the end with its result, and seals the replay.
func TestResumeEndedByRules(t *testing.T) {
	t.Parallel()
	const end = 25 // without a checksum of its own
	x := setup{pipes: true, options: server.Options{KeepOpen: true, Durability: replay.SyncFrame}, rules: endingAt(end), host: host.Options{EndLinger: lockstep.Second}}
	dir, whole := t.TempDir(), ""
	virtually(t, func(t *testing.T) {
		first := newStage(t, x)
		a := first.join(t, ada, wander)
		eventually(t, "the rules end the match", func() bool { return has[player.Ended](a) })
		whole = filepath.Join(dir, filepath.Base(first.match.ReplayPath()))
		if err := os.Rename(first.crash(t), whole); err != nil {
			t.Fatal(err)
		}
	})
	for name, cut := range map[string]struct{ records, bytes int }{
		"before its checksum":             {2, 0},
		"between checksum and end":        {1, 0},
		"in the end record":               {0, 5},
		"before the last byte":            {0, 1},
		"after the end record":            {0, 0},
		"with the frame of the last tick": {3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				x := x
				x.options.KeepOpen = false
				x.interrupted = cutLog(t, whole, cut.records, cut.bytes)
				second := newStage(t, x)
				a, b := second.join(t, ada, nil), second.join(t, press, nil)
				for who, c := range map[string]*testClient{"a player": a, "a spectator": b} {
					eventually(t, who+" sees the end", func() bool { return has[player.Ended](c) })
					if e := told[player.Ended](c)[0]; !e.ByRules || *e.Result.(*last) != (last{end}) || has[player.Desynced](c) {
						t.Errorf("%s: got %+v", who, e)
					}
				}
				if v := second.match.Status(); !v.EndedByRules || string(v.Result) != `{"Tick":25}` {
					t.Errorf("got view %+v", v)
				}
				<-second.match.Done()
				second.stop()
				checkSealed(t, second, x.interrupted, end)
				third, err := server.New(server.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := third.Resume(x.interrupted, server.MatchSpec{Game: second.game}); !errors.Is(err, server.ErrNotInterrupted) {
					t.Errorf("the sealed replay: got %v, want %v", err, server.ErrNotInterrupted)
				}
			})
		})
	}
}

// cutLog copies a replay record by record, each in a block of its own, without the last records and then bytes.
func cutLog(t *testing.T, path string, records, bytes int) string {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	info, _ := in.Stat()
	r, err := replay.NewReader(in, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), filepath.Base(path))
	out, err := os.Create(cut)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, sizes := replay.NewWriter(out, replay.WriterOptions{}), []int64(nil)
	for rec, err := range r.All() {
		if err := errors.Join(err, w.Append(r.Record()), w.Flush()); err != nil {
			t.Fatal(err)
		}
		if sizes = append(sizes, w.Size()); rec.Kind == record.KindEnd {
			break
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Truncate(sizes[len(sizes)-1-records] - int64(bytes)); err != nil {
		t.Fatal(err)
	}
	return cut
}

// checkSealed checks that a replay is the only file in its folder, is sealed, and ends by the rules in a tick.
func checkSealed(t *testing.T, s *stage, path string, end lockstep.Tick) {
	t.Helper()
	f, err := replay.OpenNoFollow(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil || !info.ByRules || string(info.Result) != `{"Tick":25}` || info.Ticks != end || info.Segments == 0 {
		t.Errorf("got %+v, %v, want a sealed replay with the result", info, err)
	}
	if files := s.files(t, "*"); len(files) != 1 {
		t.Errorf("got %v, want one file", files)
	}
}
