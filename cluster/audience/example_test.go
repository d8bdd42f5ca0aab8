package audience_test

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// The log of a match, and a spectator who sees it two ticks late.
func ExampleAudience() {
	var records testgame.Records
	game, match := testgame.NewLamps(&records, coordinator.Options{})
	testgame.Ticks(match, 5)

	var o audience.Options
	o.Delay = 2
	o.Rates.Syncs = host.Rate{N: 1, Per: lockstep.Second, Burst: 1}
	a, err := audience.New(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	var log *audience.Log = audience.NewLog(a)
	records = slices.Insert(records, 2, disclosure.Policy{}.Event()) // as a host does
	for _, r := range records {
		if err := log.Append(0, r); err != nil {
			fmt.Println(err)
			return
		}
	}
	a.Live(0)
	fmt.Println("the match is at tick", a.Stats().Tick, "and spectators see tick", a.Now())

	id, _ := a.Connect(0, "192.0.2.1")
	var w protocol.Writer
	a.Receive(0, id, w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: protocol.NewAuth(game)}))
	var r *audience.Ready = a.Ready()
	var wrong []audience.Desync = r.Desynced
	fmt.Println(len(r.Welcomed), "is welcome;", len(r.Peers), "has something to read;", len(wrong), "computed something else")
	var reader protocol.Reader
	var m protocol.Message
	for b := a.Send(id, nil); len(b) > 0 && !protocol.IsRecord(b); {
		b, _ = reader.Read(&m, b)
		fmt.Println(m.Kind, m.Tick)
	}
	// Output:
	// the match is at tick 5 and spectators see tick 3
	// 1 is welcome; 1 has something to read; 0 computed something else
	// welcome 0
	// state_sync 0
}

// A mirror that watches a server: what it sends first, and what it does after a lost connection. A Fetch would get a newer
// keyframe over another connection.
func ExampleUpstream() {
	a, err := audience.New(audience.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	game := lockstep.MustGame(testgame.LampRules)
	o := audience.UpstreamOptions{Auth: *protocol.NewAuth(game), Seed: 1}
	up := audience.NewUpstream(a, o)
	var s audience.Stage = up.Stage()
	fmt.Println(s == audience.Dial)
	up.Connected(0)
	var reader protocol.Reader
	var m protocol.Message
	if _, err := reader.Read(&m, up.Send(nil)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(m.Kind)
	up.Disconnected(lockstep.Second)
	fmt.Println(up.Stage() == audience.Wait, up.Next() < 2*lockstep.Second)
	var f *audience.Fetch = audience.NewFetch(o)
	fmt.Println(len(f.Send()) > 0, a.Stats() == audience.Stats{})
	var k audience.Keyframe
	fmt.Println(k.Tick)
	var _ audience.Rates
	// Output:
	// true
	// auth
	// true true
	// true true
	// 0
}
