package desync_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// reports returns the reports of a player with another game: every N ticks, with sections and states if wanted.
func reports(tb testing.TB, file []byte, g *lockstep.Game, every lockstep.Tick, sections, states bool) []desync.Report {
	tb.Helper()
	var all []desync.Report
	f := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 1, EveryTick: true}})
	err := replay.Play(openReplay(tb, file), nil, func(r *record.Record) error {
		if err := f.Apply(r); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
		if r.Kind != record.KindFrame && r.Kind != record.KindEmpty || f.Tick()%every > 0 {
			return nil
		}
		sum, _ := f.Sum(f.Tick())
		report := desync.Report{Tick: f.Tick(), Hash: sum.Hash}
		if sections {
			report.Sections = slices.Clone(sum.Sections)
		}
		if states {
			report.State = f.Simulation().AppendState(nil)
		}
		all = append(all, report)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestBisectReports(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 50
	g, file := recordDots(t, 400, s)
	hurt203 := hurt(t, 203, func(b []byte) { xor(t, "Dots[1].Pos.X", 3)(b); xor(t, "Dots[2].Pos.X", 3)(b) })
	for _, test := range []struct {
		name     string
		every    lockstep.Tick
		sections bool
		states   bool
		want     string
	}{
		{"roots of the same ticks", 10, false, false, "b: ticks 200 to 210, exact false, section ,"},
		{"sections", 10, true, false, "b: ticks 200 to 210, exact false, section Dots,"},
		{"states", 10, true, true, "b: ticks 200 to 210, exact false, section Dots, tick 210: Dots[1].Pos.X"},
		{"roots of other ticks", 7, false, false, "b: ticks 196 to 203, exact false, section ,"},
		{"a state of the tick itself", 7, false, true, "b: ticks 196 to 203, exact false, section Dots, tick 203: Dots[1].Pos.X"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := desync.BisectReports(openReplay(t, file), reports(t, file, hurt203, test.every, test.sections, test.states), g, desync.BisectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := bisectionText(found); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	t.Run("all is well", func(t *testing.T) {
		for _, every := range []lockstep.Tick{7, 10} {
			_, err := desync.BisectReports(openReplay(t, file), reports(t, file, g, every, false, false), g, desync.BisectOptions{})
			if !errors.Is(err, desync.ErrSame) {
				t.Errorf("every %d: got error %v, want %v", every, err, desync.ErrSame)
			}
		}
	})
	t.Run("the recorder was wrong", func(t *testing.T) {
		other := retell(t, file, hurt203)
		found, err := desync.BisectReports(openReplay(t, other), reports(t, file, g, 10, false, false), g, desync.BisectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if found.Cause != desync.OriginA || found.Tick != 210 {
			t.Errorf("got %s, want that the replay is wrong", bisectionText(found))
		}
	})
}

// A player's reports are its own where they differ, and the agreed checksums otherwise.
func TestPlayerReports(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	hurt203 := hurt(t, 203, xor(t, "Dots[1].Pos.X", 3))
	own := reports(t, file, hurt203, 1, false, false)
	file = mismatch(t, file, 1, own)
	for p, want := range map[lockstep.Player]bool{0: false, 1: true} {
		list, err := desync.PlayerReports(openReplay(t, file), p)
		if err != nil || len(list) < 40 {
			t.Fatalf("player %d: %d reports, error %v, want 40", p, len(list), err)
		}
		found, err := desync.BisectReports(openReplay(t, file), list, g, desync.BisectOptions{})
		if !want {
			if !errors.Is(err, desync.ErrSame) {
				t.Errorf("player %d: got error %v, want %v", p, err, desync.ErrSame)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := bisectionText(found), "b: ticks 200 to 210, exact false, section Dots, reconstructed tick 210: Dots[1].Pos.X"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// In an imported match the keyframe holds no state of that match; only the checksums count.
func TestBisectReportsImported(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	imported := insert(t, file, func(r *record.Record) []record.Record {
		if r.Kind != record.KindKeyframe || r.Tick > 0 {
			return nil
		}
		return []record.Record{{Kind: record.KindChecksum, Tick: 0, Hash: 77}}
	})
	list, err := desync.PlayerReports(openReplay(t, imported), 1)
	if err != nil || list[0].Tick != 0 || list[0].Hash != 77 {
		t.Fatalf("got %+v, error %v, want a report of tick 0", list[0], err)
	}
	list[7].Hash++
	found, err := desync.BisectReports(openReplay(t, imported), list, nil, desync.BisectOptions{})
	if err != nil || found.Tick != 70 || found.Agreed != 60 || found.Cause != desync.OriginUnknown {
		t.Errorf("got %+v, error %v, want tick 70", found, err)
	}
}

// mismatch returns a replay that logs a player's reports that differ from the agreed checksum, three checks late.
func mismatch(tb testing.TB, file []byte, p lockstep.Player, reports []desync.Report) []byte {
	tb.Helper()
	own := make(map[lockstep.Tick]uint64)
	for _, r := range reports {
		own[r.Tick] = r.Hash
	}
	var late []record.Record
	return insert(tb, file, func(r *record.Record) []record.Record {
		if r.Kind != record.KindChecksum {
			return nil
		}
		if hash, ok := own[r.Tick]; ok && hash != r.Hash {
			late = append(late, record.Record{Kind: record.KindMismatch, Tick: r.Tick, Player: p, Hash: hash})
		}
		if len(late) < 3 {
			return nil
		}
		due := late[:1]
		late = late[1:]
		return due
	})
}

// insert returns a replay with more records after its own.
func insert(tb testing.TB, file []byte, after func(*record.Record) []record.Record) []byte {
	tb.Helper()
	return copyRecords(tb, file, func(r *record.Record, emit func(*record.Record) error) error {
		if err := emit(r); err != nil {
			return err
		}
		for _, more := range after(r) {
			if err := emit(&more); err != nil {
				return err
			}
		}
		return nil
	})
}
