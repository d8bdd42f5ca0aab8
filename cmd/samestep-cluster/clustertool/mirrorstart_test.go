//go:build unix

package clustertool_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Mirrors that start at once with a new storage and its servers, in any order, show every match. SAMESTEP_MIRROR_STARTS is how many
// clusters start.
func TestMirrorStarts(t *testing.T) {
	testenv.Long(t)
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("SAMESTEP_MIRROR_STARTS"), "3"))
	if err != nil {
		t.Fatal(err)
	}
	const matches, mirrors = 8, 3
	worst, shown := time.Duration(0), 0
	for round := range rounds {
		random := rand.New(rand.NewPCG(1, uint64(round)))
		o := fleet.Options{Program: program(t), Dir: t.TempDir(), Game: "minimal", Nodes: 1, Servers: 1, Mirrors: mirrors}
		for range o.Nodes + o.Servers + o.Mirrors {
			o.Pauses = append(o.Pauses, time.Duration(random.IntN(600))*time.Millisecond)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		f, err := fleet.Start(ctx, o)
		cancel()
		if err != nil {
			t.Fatalf("round %d, pauses %v: %v", round, o.Pauses, err)
		}
		t.Cleanup(f.Close)
		for i := range matches {
			if err := f.Create(t.Context(), f.Servers[0], fmt.Sprint("match-", i), 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range f.Mirrors {
			for i := range matches {
				began := time.Now()
				await(t, fmt.Sprintf("round %d, pauses %v: %s shows match %d", round, o.Pauses, r.Name, i), func() bool {
					time.Sleep(100 * time.Millisecond) // the budget of requests
					return tickAt(t, r.URL, fmt.Sprint("match-", i)) > 0
				})
				worst = max(worst, time.Since(began))
				shown++
			}
			if get(t, r.URL+"/readyz") == "" {
				t.Errorf("round %d: %s is not ready", round, r.Name)
			}
		}
		f.Close()
	}
	t.Logf("%d clusters: %d of %d matches shown, the last after %v", rounds, shown, rounds*matches*mirrors, worst.Round(time.Millisecond))
}

// tickAt returns the tick of a match that a mirror shows, or 0 if it shows none.
func tickAt(t *testing.T, mirror, match string) lockstep.Tick {
	t.Helper()
	var view struct{ Tick lockstep.Tick }
	if text := get(t, mirror+"/matches/"+match); text == "" || json.Unmarshal([]byte(text), &view) != nil {
		return 0
	}
	return view.Tick
}
