package live

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
)

func TestLineOf(t *testing.T) {
	for _, row := range []struct {
		event any
		want  string
	}{
		{skirmish.PlayerDefeated{Player: 2}, "game 2 is defeated"},
		{skirmish.MatchWon{Team: 1}, "game -1 team 2 has won"},
		{skirmish.BuildingDone{Owner: 3, Kind: skirmish.Barracks}, "built 3 barracks complete"},
		{skirmish.Shot{}, " -1 "},
	} {
		sort, player, text := lineOf(row.event)
		if got := fmt.Sprint(sort, " ", player, " ", text); got != row.want {
			t.Errorf("%T: got %q, want %q", row.event, got, row.want)
		}
	}
}
