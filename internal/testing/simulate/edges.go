package simulate

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// The state changes of connections and clients that a run can see. It looks after
// each event, so it misses stages that take no time.
var (
	peerEdges = [][2]host.PeerState{
		{host.Connecting, host.Syncing},
		{host.Connecting, host.CatchingUp},
		{host.Connecting, host.Closed},
		{host.Syncing, host.CatchingUp},
		{host.Syncing, host.Closed},
		{host.CatchingUp, host.Syncing},
		{host.CatchingUp, host.Live},
		{host.CatchingUp, host.Closed},
		{host.Live, host.Syncing},
		{host.Live, host.Closed},
	}
	clientEdges = [][2]player.Stage{
		{player.StageWaiting, player.StageDialing},
		{player.StageDialing, player.StageWaiting},
		{player.StageDialing, player.StageGreeting},
		{player.StageGreeting, player.StageWaiting},
		{player.StageGreeting, player.StageSyncing},
		{player.StageGreeting, player.StageCatchingUp},
		{player.StageGreeting, player.StageLive},
		{player.StageGreeting, player.StageDone},
		{player.StageSyncing, player.StageWaiting},
		{player.StageSyncing, player.StageCatchingUp},
		{player.StageSyncing, player.StageLive},
		{player.StageCatchingUp, player.StageWaiting},
		{player.StageCatchingUp, player.StageLive},
		{player.StageLive, player.StageWaiting},
		{player.StageLive, player.StageCatchingUp},
		{player.StageLive, player.StageSyncing},
		{player.StageLive, player.StageDraining},
		{player.StageLive, player.StageDone},
		{player.StageDraining, player.StageDone},
	}
)

// Edges returns how many of the state changes were seen, how many there are, and the
// missing ones.
func (t *Tallies) Edges() (seen, all int, missing []string) {
	add := func(times int, who string, from, to any) {
		if all++; times > 0 {
			seen++
		} else {
			missing = append(missing, fmt.Sprintf("%s: %v to %v", who, from, to))
		}
	}
	for _, e := range peerEdges {
		add(t.PeerEdges[e[0]][e[1]], "connection", e[0], e[1])
	}
	for _, e := range clientEdges {
		add(t.ClientEdges[e[0]][e[1]], "client", e[0], e[1])
	}
	return seen, all, missing
}
