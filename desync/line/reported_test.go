package line

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// A bundle of player 1 at tick 14. Both agreed at tick 10, and the player's machine computed the ticks after that again.
func desynced(referee, first uint64, runs ...[]uint64) *replay.Manifest {
	m := &replay.Manifest{Tick: 14, Agreed: 10, Player: 1, Groups: []replay.BundleGroup{
		{Checksum: checksum.FormatHash(referee), Referee: true, Players: []lockstep.Player{0}},
		{Checksum: checksum.FormatHash(first), Players: []lockstep.Player{1}},
	}}
	if len(runs) > 0 {
		m.Resimulation = &replay.BundleResimulation{From: 10, To: 14, Right: []string{checksum.FormatHash(11), checksum.FormatHash(12)}}
	}
	for _, run := range runs {
		var texts []string
		for _, h := range run {
			texts = append(texts, checksum.FormatHash(h))
		}
		m.Resimulation.Runs = append(m.Resimulation.Runs, texts)
	}
	return m
}

// The same in relay mode: most players have the agreed checksum, and nobody is the referee.
func relayed(most, first uint64) *replay.Manifest {
	m := desynced(most, first)
	m.Groups[0].Referee, m.Groups[0].Players = false, []lockstep.Player{0, 2}
	return m
}

// A bundle says whose checksums each side computes.
func TestReported(t *testing.T) {
	right := []uint64{10, 11, 12, 13, 14} // from tick 10 on
	wrong := []uint64{10, 11, 92, 93, 94}
	third := []uint64{10, 11, 12, 13, 84}
	again := wrong[1:]
	for _, row := range []struct {
		name     string
		manifest *replay.Manifest
		a, b     []uint64
		want     string
	}{
		{"B is the player's", desynced(14, 94, again, again), right, wrong, "A computes what the referee had; B computes what player 1 sent"},
		{"A is the player's", desynced(14, 94, again), wrong, right, "A computes what player 1 sent; B computes what the referee had"},
		{"without computing again", desynced(14, 94), right, wrong, "A computes what the referee had; B computes what player 1 sent"},
		{"B is another version", desynced(14, 94, again), right, third, "A computes what the referee had; B computes neither what the referee had nor what player 1 sent, up to tick 14; neither side computes what player 1 sent: the other version"},
		{"right only at the check", desynced(14, 94, again), right, []uint64{10, 11, 12, 13, 94}, "A computes what the referee had; B computes neither what the referee had nor what player 1 sent, up to tick 14; neither side computes"},
		{"a side that stops", desynced(14, 94, again), right, wrong[:4], "A computes what the referee had; B computes neither what the referee had nor what player 1 sent, up to tick 14; neither side computes"},
		{"both are the referee's", desynced(14, 94, again), right, right, "A computes what the referee had; B computes what the referee had; neither side computes"},
		{"both are the player's", desynced(14, 94, again), wrong, wrong, "A computes what player 1 sent; B computes what player 1 sent; neither side computes what the referee had"},
		{"one version", desynced(14, 94, again), right, nil, "this version computes what the referee had; compare with the version or the platform of player 1"},
		{"the player's version", desynced(14, 94, again), wrong, nil, "this version computes what player 1 sent; compare with the version or the platform of the referee"},
		{"an old version", desynced(14, 94, again), third, nil, "this version computes neither what the referee had nor what player 1 sent, up to tick 14; compare"},
		{"right this time", desynced(14, 94, right[1:], right[1:]), right, nil, "this version computes what the referee had; player 1 recomputed the ticks correctly"},
		{"always another result", desynced(14, 94, wrong[1:], third[1:]), right, nil, "this version computes what the referee had; player 1 computed the ticks again with different results"},
		{"in relay mode", relayed(14, 94), right, nil, "this version computes what most players had; compare with the version or the platform of player 1"},
		{"in relay mode, the player's version", relayed(14, 94), wrong, nil, "this version computes what player 1 sent; compare with the version or the platform of most players"},
		{"ticks before", desynced(14, 94, again), right[4:], nil, "this version computes neither"},
	} {
		s := readSums(row.manifest)
		sides, names := []Reproduce{s.reproduced(10, row.a)}, []string{"this version"}
		if row.b != nil {
			sides, names = append(sides, s.reproduced(10, row.b)), []string{"A", "B"}
		}
		r := s.report(names, sides)
		got := strings.TrimSuffix(strings.Join(append(slices.Clone(r.Text), r.Next), "; "), "; ")
		if strings.Contains(got, "at fault") || !slices.ContainsFunc(row.manifest.Groups, func(g replay.BundleGroup) bool { return g.Referee }) && strings.Contains(got, "referee") {
			t.Errorf("%s: got %q, want no cause, and no referee that the match did not have", row.name, got)
		}
		if strings.Contains(got, "--") || r.Next != "" && row.b != nil {
			t.Errorf("%s: got %q and then %q, want advice for one version only, and no flags", row.name, got, r.Next)
		}
		if !strings.HasPrefix(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
		if doubt := len(sides) == 2 && len(r.Text) == 3; doubt != (r.Doubt != "") || !strings.HasSuffix(got, r.Doubt) {
			t.Errorf("%s: got doubt %q, want the third line of %q, if there is one, of two sides", row.name, r.Doubt, r.Text)
		}
	}
}

// A bundle of a panic, or without a majority, has no player whose checksums a side could compute.
func TestReportedOfNobody(t *testing.T) {
	tie, panicked := desynced(14, 94), desynced(14, 94)
	tie.Tie, panicked.Panic = true, &replay.BundlePanic{Where: "Step"}
	for _, m := range []*replay.Manifest{tie, panicked} {
		if r := reportOn(m, 10, []uint64{10, 11, 12, 13, 14}); r != nil {
			t.Errorf("got %+v", r)
		}
	}
	if reportOn(desynced(14, 94), 10, []uint64{10, 11, 12, 13, 14}) == nil {
		t.Error("nothing is reported of a player's bundle")
	}
}

// A bundle may claim anything.
func TestReportedHostile(t *testing.T) {
	m := desynced(14, 94, []uint64{1, 2, 3, 4, 5, 6, 7})
	m.Groups[1].Checksum, m.Resimulation.Right, m.Resimulation.From = "x", []string{"y", "", "0"}, 1<<32-3
	s := readSums(m)
	if len(s.player) > 8 {
		t.Errorf("got %v", s.player)
	}
	if r := s.reproduced(1<<32-2, []uint64{1}); r.Player {
		t.Errorf("got %+v", r)
	}
}

// The checksums of a bundle are compared with what two built versions compute.
func TestReportedByBundle(t *testing.T) {
	needsGo(t)
	if every == 0 {
		t.Skip("SAMESTEP_LINES is not set: builds two versions of a game")
	}
	x := newBench(t, "platforms")
	edits, _, _ := bugs["platforms"][0].plant(t, "platforms")
	sides := x.plain(planted{edits: edits})
	folder := t.TempDir()
	first, err := between(t.Context(), x.replay, sides, folder)
	if err != nil || first.Tick == 0 || first.Reported != nil {
		t.Fatalf("got %+v, %v", first, err)
	}
	evidence := &host.Evidence{Report: coordinator.DesyncReport{Tick: first.Tick + 1, Player: 1}}
	for i, one := range sides {
		hashes, err := (&job{Job: program.Job{Folder: filepath.Join(one.folder, "hashes"+sideNames[i])}}).hashes()
		if err != nil {
			t.Fatal(err)
		}
		evidence.Report.Groups = append(evidence.Report.Groups, coordinator.Reporters{Hash: hashes[first.Tick+1-first.First], Referee: i == 0, Players: []lockstep.Player{lockstep.Player(i)}})
	}
	path := filepath.Join(folder, "bundle.zip")
	writeBundle(t, path, x.replay, evidence)
	second, err := between(t.Context(), path, sides, t.TempDir())
	if err != nil || second.Reported == nil {
		t.Fatalf("got %+v, %v", second, err)
	}
	if got := strings.Join(second.Reported.Text, "; "); got != "A computes what the referee had; B computes what player 1 sent" {
		t.Errorf("got %q", got)
	}
}

func writeBundle(t *testing.T, path, log string, e *host.Evidence) {
	t.Helper()
	f, err := replay.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := f.Header()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := replay.WriteBundle(out, h, e, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
}
