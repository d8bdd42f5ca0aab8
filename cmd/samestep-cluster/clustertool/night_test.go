//go:build unix

package clustertool_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/loglines"
)

// One player's night can be read in the logs: the id of the match is in those of each server that had it and of the mirror at which it was
// watched, and so is the id of the session that the player's own program tells, before and after the server was lost.
func TestOneNight(t *testing.T) {
	t.Parallel()
	x := besiege(t, fleet.Options{Nodes: 1, Servers: 2, Mirrors: 1})
	match, _, err := x.fleet.Owner(t.Context(), "duel")
	if err != nil {
		t.Fatal(err)
	}
	watcher := x.fleet.Join(context.Background(), x.game, "duel", -1, nil, []string{x.fleet.Mirrors[0].URL})
	t.Cleanup(watcher.Leave)
	await(t, "the spectator sees the match", func() bool { return watcher.Seen().Tick > 0 })
	before := x.owner()
	x.fleet.Servers[before].Kill()
	x.playOn()
	watcher.Leave()

	first, second, mirror := x.fleet.Servers[before].Name, x.fleet.Servers[1-before].Name, x.fleet.Mirrors[0].Name
	player := x.players[0].Session()
	for _, want := range []struct{ what, id, log string }{
		{"the match", match.ID, first}, {"the match", match.ID, second}, {"the match", match.ID, mirror},
		{"the player", player, first}, {"the player", player, second}, {"the spectator", watcher.Session(), mirror},
	} {
		await(t, want.what+" in the log of "+want.log, func() bool { return strings.Contains(x.log(want.log), want.id) })
	}
	for _, text := range []string{x.log(first), x.log(second), x.log(mirror)} {
		if strings.Contains(text, fleet.Token(0)) {
			t.Error("a log has a token")
		}
		for _, problem := range loglines.Problems(text) {
			t.Errorf("a line %s", problem)
		}
	}
}

// log returns the log of a program.
func (x *siege) log(name string) string {
	text, err := os.ReadFile(filepath.Join(x.fleet.Dir(), name+".log"))
	if err != nil {
		x.t.Fatal(err)
	}
	return string(text)
}
