package desync_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// reported returns an imported match with the checksums of each tick, by player; 0 is none.
func reported(t *testing.T, players uint8, ticks ...[]uint64) *replay.Reader {
	t.Helper()
	g, err := nullgame.Of([]lockstep.Kind{12})
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.NewHeader(lockstep.MatchID{9}, lockstep.DefaultSettings(players), &nullgame.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	h.Engine = replay.ForeignEngine
	var file bytes.Buffer
	var enc record.Encoder
	w := replay.NewWriter(&file, replay.WriterOptions{})
	add := func(b []byte) {
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	add(enc.Header(h))
	add(enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil)))
	for p, name := range []string{"ann", "bob"} {
		add(enc.Note(lockstep.Player(p), record.TopicName, name))
	}
	silent := make([]bool, players)
	for i, sums := range ticks {
		tick := lockstep.Tick(i + 1)
		add(enc.Empty(1))
		counts := map[uint64]int{}
		for p, sum := range sums {
			if counts[sum]++; (sum == 0) != silent[p] {
				silent[p] = sum == 0
				add(enc.Event(lockstep.Player(p), record.EventReports, map[bool]string{true: "no", false: "yes"}[silent[p]]))
			}
		}
		agreed, most, tied := uint64(0), 0, false
		for _, sum := range sums {
			if n := counts[sum]; sum != 0 && sum != agreed && n >= most {
				tied = n == most
				agreed, most = sum, n
			}
		}
		if !tied {
			add(enc.Checksum(tick, agreed))
		}
		for p, sum := range sums {
			if sum != 0 && (tied || sum != agreed) {
				add(enc.Mismatch(tick, lockstep.Player(p), sum))
			}
		}
	}
	add(enc.End("imported"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return openReplay(t, file.Bytes())
}

// Who agrees with whom is decided at the first check that differs. What happens later changes nothing of it.
func TestGroupsAtFirstDifference(t *testing.T) {
	for name, c := range map[string]struct {
		ticks    [][]uint64
		first    lockstep.Tick
		groups   string
		majority bool
		span     desync.Span
	}{
		"nobody":                {[][]uint64{{1, 1, 1}, {2, 2, 2}}, 0, "", false, desync.Span{}},
		"two to one":            {[][]uint64{{1, 1, 1}, {2, 3, 2}}, 2, "2 [0 2] [ann ], 3 [1] [bob]", true, desync.Span{From: 2, To: 2}},
		"then one leaves":       {[][]uint64{{1, 1, 1}, {2, 3, 2}, {4, 5, 0}}, 2, "2 [0 2] [ann ], 3 [1] [bob]", true, desync.Span{From: 2, To: 2}},
		"then another differs":  {[][]uint64{{1, 1, 1}, {2, 3, 2}, {4, 5, 6}}, 2, "2 [0 2] [ann ], 3 [1] [bob]", true, desync.Span{From: 2, To: 2}},
		"one was away":          {[][]uint64{{1, 1, 1}, {2, 3, 0}}, 2, "2 [0] [ann], 3 [1] [bob]", false, desync.Span{From: 2, To: 2}},
		"the first is the last": {[][]uint64{{1, 1, 1}, {3, 2, 2}}, 2, "2 [1 2] [bob ], 3 [0] [ann]", true, desync.Span{From: 2, To: 2}},
		"three":                 {[][]uint64{{1, 1, 1}, {2, 3, 4}}, 2, "2 [0] [ann], 3 [1] [bob], 4 [2] []", false, desync.Span{From: 2, To: 2}},
		"the largest of three":  {[][]uint64{{1, 1, 1, 1}, {2, 2, 3, 4}}, 2, "2 [0 1] [ann bob], 3 [2] [], 4 [3] []", false, desync.Span{From: 2, To: 2}},
		"nothing agreed before": {[][]uint64{{1, 0, 0}, {2, 3, 2}}, 2, "2 [0 2] [ann ], 3 [1] [bob]", true, desync.Span{To: 2}},
	} {
		m, err := desync.CompareReports(reported(t, uint8(len(c.ticks[0])), c.ticks...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := ""
		for i, g := range m.Groups {
			got += fmt.Sprintf("%s%s %d %v", map[bool]string{true: ", "}[i > 0], g.Checksum[15:], g.Players, g.Names)
		}
		if m.First != c.first || got != c.groups || m.Majority != c.majority {
			t.Errorf("%s: got tick %d, %s, majority %v, want %d, %s, %v", name, m.First, got, m.Majority, c.first, c.groups, c.majority)
		}
		found, differs := m.Case("x.jsonl", time.Time{})
		if differs != (c.groups != "") || found.First != c.span || slices.ContainsFunc(found.Machines, func(m desync.Machine) bool { return m.Differs }) {
			t.Errorf("%s: got the case %v, %+v, want %v", name, differs, found, c.span)
		}
	}
}
