package simulate

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The edges of the two state machines that a run can go over, as it sees them:
// it looks after each thing that happens, so stages that last no time are not
// among them.
var (
	peerEdges = [][2]lockstep.PeerState{
		{lockstep.Connecting, lockstep.Syncing},
		{lockstep.Connecting, lockstep.CatchingUp},
		{lockstep.Connecting, lockstep.Closed},
		{lockstep.Syncing, lockstep.CatchingUp},
		{lockstep.Syncing, lockstep.Closed},
		{lockstep.CatchingUp, lockstep.Syncing},
		{lockstep.CatchingUp, lockstep.Live},
		{lockstep.CatchingUp, lockstep.Closed},
		{lockstep.Live, lockstep.Syncing},
		{lockstep.Live, lockstep.Closed},
	}
	clientEdges = [][2]lockstep.ClientStage{
		{lockstep.StageWaiting, lockstep.StageDialing},
		{lockstep.StageDialing, lockstep.StageWaiting},
		{lockstep.StageDialing, lockstep.StageGreeting},
		{lockstep.StageGreeting, lockstep.StageWaiting},
		{lockstep.StageGreeting, lockstep.StageSyncing},
		{lockstep.StageGreeting, lockstep.StageCatchingUp},
		{lockstep.StageGreeting, lockstep.StageLive},
		{lockstep.StageGreeting, lockstep.StageDone},
		{lockstep.StageSyncing, lockstep.StageWaiting},
		{lockstep.StageSyncing, lockstep.StageCatchingUp},
		{lockstep.StageSyncing, lockstep.StageLive},
		{lockstep.StageCatchingUp, lockstep.StageWaiting},
		{lockstep.StageCatchingUp, lockstep.StageLive},
		{lockstep.StageLive, lockstep.StageWaiting},
		{lockstep.StageLive, lockstep.StageCatchingUp},
		{lockstep.StageLive, lockstep.StageSyncing},
		{lockstep.StageLive, lockstep.StageDraining},
		{lockstep.StageLive, lockstep.StageDone},
		{lockstep.StageDraining, lockstep.StageDone},
	}
)

// Edges returns how many edges of the state machines were gone over, of how
// many, and which were not.
func (t *Tallies) Edges() (seen, all int, missing []string) {
	for _, e := range peerEdges {
		if all++; t.PeerEdges[e[0]][e[1]] > 0 {
			seen++
		} else {
			missing = append(missing, fmt.Sprintf("connection: %v to %v", e[0], e[1]))
		}
	}
	for _, e := range clientEdges {
		if all++; t.ClientEdges[e[0]][e[1]] > 0 {
			seen++
		} else {
			missing = append(missing, fmt.Sprintf("client: %v to %v", e[0], e[1]))
		}
	}
	return seen, all, missing
}
