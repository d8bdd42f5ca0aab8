package skirmish

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The control groups at the start: the army in four of equal size, and the workers.
const (
	ArmyGroups  = 4
	WorkerGroup = 9
)

// start makes the world at tick 0.
func start(w *World, settings *lockstep.Settings, config *Config) error {
	if err := config.check(settings.Players); err != nil {
		return err
	}
	w.Match.Seed, w.Rand, w.Config = settings.Seed, fixed.NewRand(settings.Seed), *config
	w.Config.Map, w.Config.layout = slices.Clone(config.Map), nil // the layout is needed only here
	for p := range settings.Players {
		w.Players = append(w.Players, Player{Crystals: uint32(config.Crystals), Team: p % config.Teams, Secret: !config.Observers})
	}
	layout := config.layout
	if layout == nil {
		layout = Generate(&w.Rand, settings.Players, config)
	}
	w.Map, w.Crystals, w.Zones = layout.Map, slices.Clone(layout.Crystals), slices.Clone(layout.Zones)
	w.Map.Blocked = slices.Clone(w.Map.Blocked) // another match may begin with the same layout
	derive(w)
	for range w.teams() {
		w.Fog = append(w.Fog, grid.NewFog(w.Map.shape()))
	}
	each := config.Units / uint16(settings.Players)
	for p, base := range layout.Bases[:settings.Players] {
		w.place(uint8(p), base, int(each))
	}
	if len(w.workspace.births) > MaxUnits {
		return fmt.Errorf("%w: %d units, want at most %d", ErrConfig, len(w.workspace.births), MaxUnits)
	}
	w.bear()
	w.sample()
	for team := range w.Fog {
		w.reveal(uint8(team))
	}
	w.index()
	return nil
}

// place gives a player n units: a base, workers that mine, and for the rest an army on the way to the middle. An army smaller
// than the number of workers is one group, and guards the base.
func (w *World) place(p uint8, base fixed.Vec2, n int) {
	w.spawn(Unit{Pos: base, Goal: base, Kind: Base, Owner: p, Group: WorkerGroup, Source: w.crystalAt(base, 0),
		Health: Base.Traits().Health, Built: true})
	middle := w.Map.middle()
	spot := uint32(0)
	out := base.Sub(middle).Heading()
	for k := range min(int(w.Config.Workers), n-1) {
		at := base.Add(fixed.Polar(out+fixed.Turn(k)*(1<<27), 3*fixed.One+fixed.Q(k/8)*fixed.Half))
		if !w.workspace.ground.Free(at) {
			at = w.nextSpot(base, &spot)
		}
		u := Unit{Pos: at, Goal: at, Kind: Worker, Owner: p, Group: WorkerGroup, Health: Worker.Traits().Health, Built: true}
		w.dispatch(&u, w.crystalAt(base, k%4))
		w.spawn(u)
	}
	army := n - 1 - int(w.Config.Workers)
	if army <= 0 {
		return
	}
	front, groups := middle.Add(base.Sub(middle).Scale(fixed.One*9/20)), ArmyGroups
	if army < int(w.Config.Workers) {
		front, groups = base.Add(fixed.Polar(out+fixed.HalfTurn, 5*fixed.One)), 1
	}
	spot = 0
	for k := range army {
		kind := Soldier
		if k%3 == 2 {
			kind = Archer
		}
		at := w.nextSpot(front, &spot)
		w.spawn(Unit{Pos: at, Goal: at, Kind: kind, Owner: p, Group: uint8(1 + k*groups/army),
			Health: kind.Traits().Health, Built: true})
	}
}

// nextSpot returns the middle of the next open cell on a spiral around a place.
func (w *World) nextSpot(around fixed.Vec2, spot *uint32) fixed.Vec2 {
	g := &w.workspace.ground
	for *spot < 1<<18 {
		dx, dy := grid.Spiral(*spot)
		*spot++
		at := snap(around).Add(fixed.Vec2{X: fixed.Q(dx)*fixed.One + fixed.Half, Y: fixed.Q(dy)*fixed.One + fixed.Half})
		if at.X > 0 && at.Y > 0 && g.Free(at) {
			return at
		}
	}
	return around
}

// crystalAt returns 1 + the index of the crystal that is the k-th nearest to a place, counted from 0, or of the
// farthest one. It returns 0 if there is none.
func (w *World) crystalAt(at fixed.Vec2, k int) uint16 {
	last, best := fixed.Q(-1), -1
	for range k + 1 {
		nearest := fixed.MaxQ
		for i := range w.Crystals {
			if d := distance2(at, w.Crystals[i].Pos); d > last && d < nearest {
				best, nearest = i, d
			}
		}
		last = nearest
	}
	return uint16(best + 1)
}
