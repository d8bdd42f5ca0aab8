//go:build unix

package clustertool_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// The other servers take all matches of one that is killed, however many, and the match that is played goes on soon, too.
func TestManyMatches(t *testing.T) {
	overlap(t)
	testenv.Named(t)
	n, err := strconv.Atoi(os.Getenv("SAMESTEP_MATCHES"))
	if err != nil {
		n = 24
	}
	x := newSiege(t, 1, 3)
	for i := range n {
		if err := x.fleet.Create(t.Context(), x.fleet.Servers[0], fmt.Sprint("crowd-", i), 2); err != nil {
			t.Fatal(err)
		}
	}
	x.playOn()
	matches := x.directory()
	began := time.Now()
	lost := matches[slices.IndexFunc(matches, func(m cluster.Match) bool { return m.Name == "duel" })].Server
	mine := 0
	for _, m := range matches {
		if m.Server == lost {
			mine++
		}
	}
	var took []time.Duration
	x.lose(func(p *fleet.Process) {
		began = time.Now()
		p.Kill()
	})
	await(t, "the other servers have all matches", func() bool {
		taken := 0
		for _, m := range x.directory() {
			if m.State == ownership.Failed {
				t.Fatalf("%+v", m)
			}
			if m.Term > 1 && m.State == ownership.Playing {
				taken++
			}
		}
		for len(took) < taken {
			took = append(took, time.Since(began).Round(time.Millisecond))
		}
		return taken == mine
	})
	if mine < 2 || len(x.directory()) != n+1 {
		t.Errorf("%d matches lost their server; %d of %d are left", mine, len(x.directory()), n+1)
	}
	t.Logf("%d of %d matches lost their server; they had another one after %v (median), %v (most)", mine, n+1, took[mine/2], took[mine-1])
	x.judge()
}

// directory returns all matches.
func (x *siege) directory() []cluster.Match {
	x.t.Helper()
	_, matches, err := cluster.Read(x.t.Context(), x.fleet.Conn)
	if err != nil {
		x.t.Fatal(err)
	}
	return matches
}
