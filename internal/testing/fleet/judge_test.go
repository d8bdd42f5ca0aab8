//go:build unix

package fleet

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// history plays a match of 100 ticks with a command at tick 20 and one at a later tick. It returns the replay, and what the
// player of seat 0 sees.
func history(t *testing.T, later lockstep.Tick) (path string, seen Seen) {
	t.Helper()
	game := lockstep.MustGame(minimal.Rules())
	settings := lockstep.DefaultSettings(1)
	settings.Seed, settings.CheckEvery = 1, 10
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &minimal.Config{Size: 50, Coins: 500})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "match.ssr")
	f, err := replay.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := replay.NewWriter(f, replay.WriterOptions{})
	match, err := coordinator.New(game, header, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := match.Join(0); err != nil {
		t.Fatal(err)
	}
	seen = Seen{Accepted: make(map[lockstep.Sequence]lockstep.Tick), Hashes: make(map[lockstep.Tick]uint64)}
	for tick := range lockstep.Tick(100) {
		if tick == 20 || tick == later {
			kind, payload, err := game.NewPayloads().Encode(&minimal.Go{X: uint16(tick), Y: 4})
			if err != nil {
				t.Fatal(err)
			}
			r := match.Submit(0, lockstep.Sequence(len(seen.Accepted)+1), kind, payload)
			seen.Accepted[r.Sequence] = r.Tick
		}
		if _, err := match.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(match.End("enough"), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := file.Reader()
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.NewCursor(r, game, 0)
	for err == nil {
		seen.Tick, seen.Hash = c.Tick(), c.Simulation().Hash()
		seen.Hashes[seen.Tick] = seen.Hash
		err = c.Step()
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return path, seen
}

// The judge finds each kind of loss, and a player to whom another server has told another match. It finds nothing else.
func TestJudge(t *testing.T) {
	path, honest := history(t, 40)
	_, fork := history(t, 60) // the other side of a partition goes on by itself after tick 40
	for _, row := range []struct {
		name   string
		change func(*Seen)
		wrong  func(*Judgement) bool
	}{
		{"nothing", func(*Seen) {}, nil},
		{"a command is lost", func(s *Seen) { s.Accepted[9] = 50 }, func(j *Judgement) bool { return j.Lost == 1 }},
		{"a command for after the end", func(s *Seen) { s.Accepted[9] = 5000 }, nil},
		{"ticks are lost", func(s *Seen) { s.Tick += 3 }, func(j *Judgement) bool { return j.LostTicks == 3 }},
		{"a desync", func(s *Seen) { s.Desyncs++ }, func(j *Judgement) bool { return j.Desyncs == 1 }},
		{"one state of another match", func(s *Seen) { s.Hashes[7]++ }, func(j *Judgement) bool { return j.Forked == 1 }},
		{"two owners", func(s *Seen) { *s = fork }, func(j *Judgement) bool { return j.Forked > 10 }},
		{"two owners, and the last state is the same", func(s *Seen) { s.Hashes = maps.Clone(fork.Hashes) }, func(j *Judgement) bool { return j.Forked > 10 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := honest
			s.Accepted, s.Hashes = maps.Clone(honest.Accepted), maps.Clone(honest.Hashes)
			row.change(&s)
			j, err := Judge(path, lockstep.MustGame(minimal.Rules()), []*Player{{seen: s}})
			if err != nil {
				t.Fatal(err)
			}
			if row.wrong == nil && !j.Right() || row.wrong != nil && (j.Right() || !row.wrong(j)) || j.Seen < 100 || j.Checked == 0 {
				t.Errorf("got %+v", *j)
			}
		})
	}
}

// A match with two replays had two owners, and that is an error.
func TestTwoReplays(t *testing.T) {
	dir := t.TempDir()
	f := &Fleet{o: Options{Dir: dir}}
	for _, server := range []string{"server-0", "server-1"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, server), 0o700), os.WriteFile(filepath.Join(dir, server, "duel-01.ssr"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		path, err := f.Replay(t.Context(), "duel")
		if (err == nil) != (server == "server-0") {
			t.Errorf("with %s: got %q, %v", server, path, err)
		}
	}
}
