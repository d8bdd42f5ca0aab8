package rules

import (
	"example.com/caravan/ledger"
	"example.com/caravan/roads"
	"github.com/seed-49bee653/samestep/lockstep"
)

func step(w *World, c *Config, t *lockstep.Turn) {
	w.Tick = uint32(t.Tick)
	t.Phase("towns")
	for i := range w.Towns {
		w.Towns[i].produce(w)
	}
	w.settle()
	t.Phase("caravans")
	for i := range w.Caravans {
		w.travel(i)
	}
	w.rest()
	t.Phase("papers")
	w.tally()
	w.print()
	if w.Tick%20 == 0 {
		w.flood()
	}
}

// produce makes goods.
func (t *Town) produce(w *World) {
	g := int(w.Tick+t.ID) % len(t.Stock)
	t.Stock[g] += 1 + int32(w.draw(3))
	w.Worth += int64(t.Price[g])
	t.Mood = max(t.Mood-1, 0)
}

// worth returns what the stock is worth.
func (t *Town) worth() (n int64) {
	for g := range t.Stock {
		n += int64(t.Stock[g])
	}
	return n
}

// settle lets towns pay each other.
func (w *World) settle() {
	rich := ledger.NewHeap(func(a, b *Town) bool {
		if a.Cash != b.Cash {
			return a.Cash > b.Cash
		}
		return a.ID < b.ID
	})
	for i := range w.Towns {
		rich.Push(&w.Towns[i])
	}
	first, _ := rich.Pop()
	second, _ := rich.Pop()
	pay(&first.Cash, &second.Cash, int64(w.Tick%7))
	first.Mood++
}

// pay moves money.
func pay(from, to *int64, n int64) {
	*from -= n
	*to += n
}

// travel moves a caravan, or lets it trade.
func (w *World) travel(i int) {
	c := &w.Caravans[i]
	if c.Wait > 0 {
		c.Wait--
		return
	}
	goal := &w.Towns[c.Goal]
	speed := int32(2)
	if len(c.Loads) > 2 {
		speed = 1
	}
	if !c.At.Toward(goal.At, speed) {
		c.Tired += speed
		return
	}
	w.arrive(c, goal)
	w.buy(c, goal)
	c.Goal = w.choose(c)
	c.Left, c.Wait = w.Tick, int16(c.ID%3)
}

// choose returns the next goal.
func (w *World) choose(c *Caravan) uint16 {
	goal := w.Next[c.Goal]
	if w.draw(2) == 0 {
		goal = uint16(w.draw(uint64(len(w.Towns))))
	}
	return goal
}

// rest lets the tired wait.
func (w *World) rest() {
	for i := range w.Caravans {
		c := &w.Caravans[i]
		if c.Tired > 40 {
			c.Tired, c.Wait = 0, c.Wait+5
		}
	}
}

// flood moves a town.
func (w *World) flood() {
	t := &w.Towns[w.draw(uint64(len(w.Towns)))]
	t.At = roads.Point{X: t.At.X + 3, Y: t.At.Y - 1}
	derive(w, nil)
}
