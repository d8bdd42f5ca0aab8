package skirmish

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// mine returns an arena with a worker of player 0 and crystals beside the base, which stands at the returned place.
func mine(tb testing.TB) (w *World, worker UnitID, base fixed.Vec2) {
	w = arena(tb)
	base = w.Units[0].Pos
	out := fixed.Vec2{X: -6 * fixed.One}
	w.Crystals = append(w.Crystals, Crystal{Pos: base.Add(out), Amount: 24, Full: 24})
	w.Crystals = append(w.Crystals, Crystal{Pos: base.Add(out.Scale(2 * fixed.One)), Amount: 500, Full: 500})
	return w, put(w, Worker, 0, base.Add(fixed.Vec2{Y: -4 * fixed.One})), base
}

func TestGather(t *testing.T) {
	w, worker, _ := mine(t)
	before := w.Players[0].Crystals
	until(t, w, 200, func() bool { return w.Players[0].Crystals > before }, by(0, &Gather{list(worker), 0}))
	if got := w.Players[0].Crystals - before; got != load || w.Players[0].Gathered != load {
		t.Errorf("the first load is %d and %d, want %d", got, w.Players[0].Gathered, load)
	}
	// It continues with the next crystal when the first one is empty, except for its regrowth.
	until(t, w, 1200, func() bool { return w.Crystals[1].Amount <= 500-load })
	if w.Players[0].Gathered < 24 || w.Crystals[0].Amount > load {
		t.Errorf("gathered %d, left %d", w.Players[0].Gathered, w.Crystals[0].Amount)
	}
	if u := unit(t, w, worker); u.Task != Gathering {
		t.Errorf("the worker's task is %v", u.Task)
	}
}

// A worker at an emptied crystal goes straight to the next one.
func TestGatherLast(t *testing.T) {
	w, worker, base := mine(t)
	other := put(w, Worker, 0, base.Add(fixed.Vec2{Y: 4 * fixed.One}))
	w.Crystals[0].Amount = load
	until(t, w, 400, func() bool {
		a, b := unit(t, w, worker), unit(t, w, other)
		for _, u := range []*Unit{a, b} {
			if u.Phase == phaseHome && u.Cargo == 0 {
				t.Fatalf("unit %d goes home with nothing", u.ID)
			}
		}
		return a.Source == 2 && b.Source == 2
	}, by(0, &Gather{list(worker, other), 0}))
}

// A worker without a base becomes idle.
func TestGatherHomeless(t *testing.T) {
	w, worker, _ := mine(t)
	advance(w, 60, by(0, &Gather{list(worker), 0}))
	w.Units[0].Health = 1
	w.Units[0].Pos = cells(60, 5)
	put(w, Tower, 1, cells(60, 8))
	until(t, w, 400, func() bool { return unit(t, w, worker).Task == Idle })
	if w.find(1) >= 0 {
		t.Error("the base still stands")
	}
}

func TestRegrow(t *testing.T) {
	w, _, _ := mine(t)
	w.Crystals[0].Amount = 20
	advance(w, 2*growTicks)
	if w.Crystals[0].Amount != 22 || w.Crystals[1].Amount != 500 {
		t.Errorf("crystals have %d and %d, want 22 and 500", w.Crystals[0].Amount, w.Crystals[1].Amount)
	}
	advance(w, 10*growTicks)
	if w.Crystals[0].Amount != 24 {
		t.Errorf("the first crystal has %d, want 24", w.Crystals[0].Amount)
	}
}

func TestBuild(t *testing.T) {
	for _, test := range []struct {
		name    string
		kind    UnitKind
		workers int
		poor    bool
		built   bool
	}{
		{"barracks", Barracks, 1, false, true},
		{"tower by three", Tower, 3, false, true},
		{"base", Base, 2, false, true},
		{"cannot pay", Base, 1, true, false},
		{"not a building", Soldier, 1, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := arena(t)
			var ids []UnitID
			for k := range test.workers {
				ids = append(ids, put(w, Worker, 0, cells(28+int64(k), 30)))
			}
			if test.poor {
				w.Players[0].Crystals = 100
			}
			before, buildings, traits := w.Players[0].Crystals, w.Players[0].Buildings, test.kind.Traits()
			advance(w, 1, by(0, &Build{list(ids...), test.kind, PointAt(cells(35, 30))}))
			site := func() *Unit { return &w.Units[len(w.Units)-1] }
			if test.built {
				until(t, w, 100, func() bool { return site().Kind == test.kind })
				if site().Built || site().Health >= traits.Health {
					t.Errorf("the site is complete at once: %+v", site())
				}
				limit := int(traits.Ticks)/test.workers + 20
				if n := until(t, w, limit, func() bool { return site().Built }); n*test.workers < int(traits.Ticks)-40 {
					t.Errorf("built in %d ticks by %d, it takes %d", n, test.workers, traits.Ticks)
				}
				if site().Health != traits.Health || site().Pos != cells(35, 30) {
					t.Errorf("health is %d of %d at %v", site().Health, traits.Health, site().Pos)
				}
				advance(w, 1)
			} else {
				advance(w, 200)
			}
			paid, more := before-w.Players[0].Crystals, w.Players[0].Buildings-buildings
			if test.built && (paid != traits.Cost || more != 1) || !test.built && (paid != 0 || more != 0) {
				t.Errorf("paid %d of %d for %d buildings", paid, traits.Cost, more)
			}
			for _, id := range ids {
				if u := unit(t, w, id); u.Task != Idle {
					t.Errorf("unit %d is still at %v", id, u.Task)
				}
			}
		})
	}
}

// Buildings keep a distance to each other, to rock and to crystals.
func TestFits(t *testing.T) {
	w := arena(t)
	wall(w, 40, 40, 44, 44)
	put(w, Barracks, 1, cells(30, 30))
	w.Crystals = append(w.Crystals, Crystal{Pos: cells(20, 20), Amount: 5, Full: 5})
	for _, test := range []struct {
		at   fixed.Vec2
		want bool
	}{
		{cells(30, 40), true}, {cells(30, 30), false}, {cells(32, 30), false}, {cells(34, 30), true},
		{cells(38, 42), true}, {cells(39, 42), false}, {cells(42, 42), false}, {cells(46, 42), false}, {cells(47, 42), true},
		{cells(20, 20), false}, {cells(20, 23), false}, {cells(20, 24), true}, {cells(1, 30), false}, {cells(-500, 3000), false},
	} {
		if got := w.fits(Barracks, test.at); got != test.want {
			t.Errorf("barracks at %v: got %v, want %v", test.at, got, test.want)
		}
	}
}

func TestTrain(t *testing.T) {
	w := arena(t)
	barracks := put(w, Barracks, 0, cells(30, 30))
	before := w.Players[0].Crystals
	advance(w, 1, by(0, &Assign{Group: 4, Units: []UnitID{barracks}}), by(0, &Move{Who: list(barracks), To: PointAt(cells(30, 40))}),
		by(0, &Train{barracks, Soldier, 2}))
	if paid := before - w.Players[0].Crystals; paid != 2*Soldier.Traits().Cost {
		t.Errorf("paid %d, want %d", paid, 2*Soldier.Traits().Cost)
	}
	count := func() (n int) {
		for i := range w.Units {
			if w.Units[i].Kind == Soldier && w.Units[i].Group == 4 {
				n++
			}
		}
		return n
	}
	ticks := int(Soldier.Traits().Ticks)
	for made := range 2 {
		if n := until(t, w, ticks, func() bool { return count() == made+1 }); n < ticks-2 {
			t.Errorf("trained in %d ticks, it takes %d", n, ticks)
		}
	}
	advance(w, ticks)
	if count() != 2 {
		t.Errorf("%d soldiers, want 2", count())
	}
	if u := &w.Units[len(w.Units)-1]; !u.Pos.InRange(cells(30, 40), fixed.One) || u.Task != Idle {
		t.Errorf("the second soldier is at %v with %v", u.Pos, u.Task)
	}
}

// Stop refunds the queue; the cap delays units; a building trains only its own kinds.
func TestTrainRefused(t *testing.T) {
	w := arena(t)
	barracks := put(w, Barracks, 0, cells(30, 30))
	before := w.Players[0].Crystals
	advance(w, 5, by(0, &Train{barracks, Archer, 3}), by(0, &Train{barracks, Soldier, 1}), by(0, &Train{barracks, Worker, 1}),
		by(1, &Train{barracks, Archer, 1}), by(0, &Train{1, Soldier, 1}), by(0, &Train{99, Soldier, 1}))
	u := unit(t, w, barracks)
	if u.Queue != 3 || u.Making != Archer || before-w.Players[0].Crystals != 3*Archer.Traits().Cost {
		t.Errorf("the queue is %d of %v, paid %d", u.Queue, u.Making, before-w.Players[0].Crystals)
	}
	advance(w, 1, by(0, &Stop{list(barracks)}))
	if w.Players[0].Crystals != before || unit(t, w, barracks).Queue != 0 {
		t.Errorf("%d paid back, want %d", w.Players[0].Crystals, before)
	}
	w.Config.Cap = w.Players[0].Units + 1
	advance(w, 3*int(Archer.Traits().Ticks), by(0, &Train{barracks, Archer, 3}))
	if got := unit(t, w, barracks).Queue; w.Players[0].Units != w.Config.Cap || got != 2 {
		t.Errorf("%d units at a cap of %d, %d in the queue", w.Players[0].Units, w.Config.Cap, got)
	}
}

// New workers go straight to the crystal of their base.
func TestTrainWorker(t *testing.T) {
	w, _, _ := mine(t)
	advance(w, 1, by(0, &Gather{list(1), 1}), by(0, &Train{1, Worker, 1}))
	until(t, w, 600, func() bool { return w.Crystals[1].Amount < 500 })
}

// The workers of another player do not help at a site.
func TestBuildNotForOthers(t *testing.T) {
	w := arena(t)
	mine, theirs := put(w, Worker, 0, cells(30, 28)), put(w, Worker, 1, cells(30, 34))
	advance(w, 60, by(0, &Build{list(mine), Barracks, PointAt(cells(30, 30))}))
	advance(w, 60, by(1, &Build{list(theirs), Barracks, PointAt(cells(30, 30))}))
	if u := unit(t, w, theirs); u.Task != Idle || len(w.workspace.buildings) != 3 {
		t.Errorf("the other player's worker is at %v, there are %d buildings", u.Task, len(w.workspace.buildings))
	}
}

// The workers of a new base know where to mine.
func TestBaseKnowsCrystal(t *testing.T) {
	w, _, _ := mine(t)
	worker := put(w, Worker, 0, cells(28, 30))
	advance(w, int(Base.Traits().Ticks)+60, by(0, &Build{list(worker), Base, PointAt(cells(32, 30))}))
	base := w.workspace.buildings[len(w.workspace.buildings)-1]
	if u := &w.Units[base]; !u.Built || u.Source != 2 && u.Source != 1 {
		t.Errorf("the new base mines crystal %d: %+v", u.Source, u)
	}
}

// A player gets as many units as the crystals pay for.
func TestTrainPoor(t *testing.T) {
	w := arena(t)
	w.Players[0].Crystals = 2*Worker.Traits().Cost + 1
	advance(w, 1, by(0, &Train{1, Worker, 5}))
	if u := unit(t, w, 1); u.Queue != 2 || w.Players[0].Crystals != 1 {
		t.Errorf("%d in the queue, %d crystals left", u.Queue, w.Players[0].Crystals)
	}
}

// A base gives crystals up to the price of a worker, and no more.
func TestAid(t *testing.T) {
	w := arena(t)
	w.Players[0].Crystals = Worker.Traits().Cost - 3
	advance(w, 2*aidTicks)
	if got := w.Players[0].Crystals; got != Worker.Traits().Cost-1 {
		t.Errorf("got %d crystals after two payments", got)
	}
	advance(w, 9*aidTicks)
	if got := w.Players[0].Crystals; got != Worker.Traits().Cost {
		t.Errorf("got %d crystals in the end, want %d", got, Worker.Traits().Cost)
	}
}

// Workers who reach the site in one tick build together, and pay once.
func TestBuildTogether(t *testing.T) {
	w := arena(t)
	a, b := put(w, Worker, 0, cells(30, 28)), put(w, Worker, 0, cells(30, 32))
	before := w.Players[0].Crystals
	until(t, w, int(Tower.Traits().Ticks)/2+40, func() bool { return len(w.workspace.buildings) == 3 && w.Units[len(w.Units)-1].Built },
		by(0, &Build{list(a, b), Tower, PointAt(cells(30, 30))}))
	if paid := before - w.Players[0].Crystals; paid != Tower.Traits().Cost {
		t.Errorf("paid %d, want %d", paid, Tower.Traits().Cost)
	}
}
