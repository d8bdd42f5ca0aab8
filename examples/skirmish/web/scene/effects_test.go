package scene_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A call to allies is drawn for their team alone, wherever the camera is.
func TestPings(t *testing.T) {
	before, now := worlds(t, 10, 100)
	var e scene.Effects
	e.Observe(now, skirmish.Pinged{By: 1, At: fixed.Vec2{X: 5 * fixed.One, Y: 6 * fixed.One}})
	for _, row := range []struct {
		team uint8
		want int
	}{{scene.Everything, 1}, {now.Players[1].Team, 1}, {now.Players[0].Team, 0}, {skirmish.Observers, 0}} {
		v := scene.View{Left: 1 << 20, Top: 1 << 20, Right: 1<<20 + 1, Bottom: 1<<20 + 1, Team: row.team, Effects: &e}
		var p scene.Painter
		got := read(t, p.Frame(nil, before, now, 0, &v)).effects
		if len(got) != row.want || len(got) == 1 && (got[0][0]&0xffff != scene.Ping|1<<8 || got[0][1] != 5<<scene.PlaceBits || got[0][2] != 6<<scene.PlaceBits) {
			t.Errorf("team %d: got %v, want %d", row.team, got, row.want)
		}
	}
}

// Each order shows its target, once for all of its commands.
func TestOrders(t *testing.T) {
	before, now := worlds(t, 10, 100)
	to, enemy := skirmish.Point{X: 80, Y: 88}, &now.Units[0]
	at := [2]int32{10 << scene.PlaceBits, 11 << scene.PlaceBits}
	place := func(v fixed.Vec2) [2]int32 {
		return [2]int32{int32(v.X >> (32 - scene.PlaceBits)), int32(v.Y >> (32 - scene.PlaceBits))}
	}
	for _, row := range []struct {
		command any
		sort    int32 // 0 for none
		at      [2]int32
	}{
		{&skirmish.Move{To: to}, scene.Moved, at},
		{&skirmish.AttackMove{To: to}, scene.Attacked, at},
		{&skirmish.Patrol{To: to}, scene.Attacked, at},
		{&skirmish.Build{At: to}, scene.Built, at},
		{&skirmish.Attack{Target: enemy.ID}, scene.Attacked, place(enemy.Pos)},
		{&skirmish.Attack{Target: 99999}, 0, at},
		{&skirmish.Gather{Crystal: 1}, scene.Gathered, place(now.Crystals[1].Pos)},
		{&skirmish.Gather{Crystal: 9999}, 0, at},
		{&skirmish.Stop{}, 0, at},
	} {
		var e scene.Effects
		e.Order(now, lockstep.Tick(now.Match.Tick), row.command)
		e.Order(now, lockstep.Tick(now.Match.Tick), row.command)
		v := everything(now)
		v.Team, v.Effects = now.Players[0].Team, &e // the target may be in the fog
		var p scene.Painter
		got := read(t, p.Frame(nil, before, now, 0, &v)).effects
		switch {
		case row.sort == 0 && len(got) != 0:
			t.Errorf("%T: got %v, want nothing", row.command, got)
		case row.sort != 0 && (len(got) != 1 || got[0][0]&0xff != row.sort || [2]int32(got[0][1:3]) != row.at):
			t.Errorf("%T: got %v, want sort %d at %v", row.command, got, row.sort, row.at)
		}
	}
}

// The header names the other players in the team of a user who has a seat.
func TestFriends(t *testing.T) {
	before, now := worlds(t, 10, 100)
	var p scene.Painter
	for _, row := range []struct {
		seated bool
		player uint8
		want   int32
	}{{true, 0, 1}, {true, 1, 2}, {false, 1, 0}, {true, 200, 0}} {
		v := everything(now)
		v.Seated, v.Player = row.seated, row.player
		if got := read(t, p.Frame(nil, before, now, 0, &v)).head[scene.HeadFriends]; got != row.want {
			t.Errorf("%+v: got %b", row, got)
		}
	}
	now.Players[1].Team = now.Players[0].Team
	v := everything(now)
	v.Seated, v.Player = true, 0
	if got := read(t, p.Frame(nil, before, now, 0, &v)).head[scene.HeadFriends]; got != 3 {
		t.Errorf("allies: got %b, want 11", got)
	}
}

// A unit tells how long it rests until its next hit, and a worker that it works.
func TestPoses(t *testing.T) {
	before, now := worlds(t, 40, 100)
	worker, soldier := &now.Units[1], &now.Units[len(now.Units)-1]
	worker.Task, worker.Work = skirmish.Gathering, 3
	soldier.Cooldown = soldier.Kind.Traits().Cooldown
	var p scene.Painter
	v := everything(now)
	got := read(t, p.Frame(nil, before, now, 0, &v)).units
	if flags := got[1][3] >> 16 & 0xff; worker.Kind != skirmish.Worker || flags&scene.Working == 0 {
		t.Errorf("a worker that mines: flags %b", flags)
	}
	if work := got[len(got)-1][5]; work != 1000 {
		t.Errorf("a soldier that has just hit: got %d, want 1000", work)
	}
}
