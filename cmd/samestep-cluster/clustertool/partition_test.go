//go:build unix

package clustertool_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// cutTime is how long a failure lasts in a long test: longer than a lease and an election.
const cutTime = 12 * time.Second

// A storage node is cut off from the other two, and its clients stay with it: the one that leads the match's stream, or
// every second time the one that the match's server is connected to. The server that is connected to it finds another one.
func TestNodeCutOff(t *testing.T) {
	overlap(t)
	testenv.Named(t)
	x := besiege(t, fleet.Options{Nodes: 3, Servers: 3, Links: true, Near: true})
	for i := range times(t, 1) {
		node := x.leader("duel")
		if i%2 == 1 {
			node = x.owner()
		}
		x.lose(func(*fleet.Process) {
			x.fleet.CutOff(node)
			x.alone(node)
		})
		if os.Getenv("SAMESTEP_KILLS") != "" {
			x.leases((node + 1) % 3)
		}
		x.soak(cutTime)
		x.fleet.Heal()
		x.heal()
	}
	x.judge()
}

// alone waits until a node finds no majority. Without that the other nodes would still reach it.
func (x *siege) alone(node int) {
	x.t.Helper()
	conn, err := x.fleet.DialNode(node)
	if err != nil {
		return // not even this test reaches it
	}
	defer conn.Close()
	await(x.t, "the node is alone", func() bool {
		ctx, cancel := context.WithTimeout(x.t.Context(), time.Second)
		defer cancel()
		_, err := conn.JS.Publish(ctx, "$KV."+storage.ServersBucket+".nobody", nil, jetstream.WithRetryAttempts(0))
		return err != nil
	})
}

// leases waits until all servers have leases, as a node says.
func (x *siege) leases(node int) {
	x.t.Helper()
	conn, err := x.fleet.DialNode(node)
	if err != nil {
		x.t.Fatal(err)
	}
	defer conn.Close()
	await(x.t, "the server of the node that is cut off has another node", func() bool {
		servers, _, err := cluster.Read(x.t.Context(), conn)
		return err == nil && len(servers) == len(x.fleet.Servers)
	})
}

// soak lets the match go on with a failure that its players have survived; only in a long test.
func (x *siege) soak(d time.Duration) {
	if os.Getenv("SAMESTEP_KILLS") != "" {
		time.Sleep(d)
	}
}

// heal waits until the match goes on, after a failure has ended. A long test waits until the cluster is whole again, and
// measures the longest pause until then.
func (x *siege) heal() {
	x.t.Helper()
	if os.Getenv("SAMESTEP_KILLS") == "" {
		x.playOn()
		return
	}
	for _, p := range x.players {
		p.Measure()
	}
	await(x.t, "all servers have leases, and all nodes all logs", func() bool { return x.fleet.Settled(x.t.Context()) })
	x.playOn()
	var longest time.Duration
	for _, p := range x.players {
		longest = max(longest, p.Seen().Longest)
	}
	x.healed = append(x.healed, longest)
}

// tell prints pauses of players.
func (x *siege) tell(what string, took []time.Duration) {
	if len(took) > 0 {
		slices.Sort(took)
		x.t.Logf("%d %s: players paused for %v (least), %v (median), %v (most)", len(took), what, took[0], took[len(took)/2], took[len(took)-1])
	}
}
