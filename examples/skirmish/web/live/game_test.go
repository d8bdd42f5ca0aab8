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
		{skirmish.PlayerDefeated{Player: 1}, "game -1 you are defeated"},
		{skirmish.MatchWon{Team: 1}, "game -1 team 2 has won"},
		{skirmish.MatchWon{Team: 3}, "game -1 your team has won"},
		{skirmish.BuildingDone{Owner: 3, Kind: skirmish.Barracks}, "built 3 barracks complete"},
		{skirmish.Proposed{By: 0, To: 1}, "game 0 offers you an alliance"},
		{skirmish.Proposed{By: 0, To: 2}, " -1 "},
		{skirmish.Proposed{By: 0, To: 1, Withdrawn: true}, " -1 "},
		{skirmish.Allied{Player: 1, With: 0}, "game 1 has joined another team"},
		{skirmish.AllianceBroken{Player: 1}, "game 1 has broken the alliance"},
		{skirmish.SurrenderVoted{Player: 2, Votes: 1, Needed: 2}, "game 2 votes to surrender, 1 of 2 votes"},
		{skirmish.SurrenderVoted{Player: 1, Votes: 1, Needed: 2}, "game -1 you vote to surrender, 1 of 2 votes"},
		{skirmish.SurrenderVoted{Player: 2, Votes: 1, Needed: 1}, "game 2 votes to surrender, 1 of 1 vote"},
		{skirmish.SurrenderVoted{Player: 2, Withdrawn: true}, "game 2 takes the vote to surrender back"},
		{skirmish.SurrenderVoted{Player: 1, Withdrawn: true}, "game -1 you take the vote to surrender back"},
		{skirmish.Surrendered{Team: 0}, "game -1 team 1 surrenders"},
		{skirmish.Surrendered{Team: 3}, "game -1 your team surrenders"},
		{skirmish.SightPermitted{Player: 0}, "game 0 hides its sight from spectators"},
		{skirmish.SightPermitted{Player: 0, Observers: true}, "game 0 shares its sight with spectators"},
		{skirmish.Shot{}, " -1 "},
	} {
		sort, player, text := lineOf(row.event, 1, 3)
		if got := fmt.Sprint(sort, " ", player, " ", text); got != row.want {
			t.Errorf("%T: got %q, want %q", row.event, got, row.want)
		}
	}
}
