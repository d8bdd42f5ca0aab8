package faultinjection

import (
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// move moves a ship, and lets it wait where it goes.
func (v *voyage) move(s *ship) {
	if s.Wait > 0 {
		if !v.is("ships do not wait less in the east") || s.At[0] < 1500 {
			s.Wait--
		}
		return
	}
	p := v.port(s.Goal)
	if s.At == p.At {
		if !slices.Contains(p.Queue, s.ID) {
			p.Queue = append(p.Queue, s.ID)
			s.Trips++
		} else if v.is("a trip is counted in every tick") {
			s.Trips++
		}
		return
	}
	if s.Fuel <= 0 {
		s.Wait, s.Fuel = 10, v.c.Tank/4
		v.Houses[s.Owner].Gold -= int64(v.c.Wage)
		return
	}
	for i := range s.At {
		way := p.At[i] - s.At[i]
		by := max(-30, min(30, way/4+sign(way)))
		if v.is("a speed is rounded down") {
			by = max(-30, min(30, way>>2+sign(way)))
		}
		if i == 0 || !v.is("the wind blows along one axis") {
			by += v.Wind[i] / 8
		}
		if abs(by) > abs(way) && (i == 0 || !v.is("a ship sails past its port")) {
			by = way
		}
		s.Speed[i] = by
		if v.is("a speed is a byte") {
			s.Speed[i] = int32(int8(by * 5))
		}
		s.At[i] += by
	}
	burnt := 1 + (s.Hold[0]+s.Hold[1]+s.Hold[2])/40
	if v.is("a heavy ship burns as much as a light one") {
		burnt = 1
	}
	s.Fuel -= burnt
}

// trade lets the first ship of a port's queue sell what it has, and follows the stock with the prices.
func (v *voyage) trade(at int) {
	p := &v.Ports[at]
	before := p.Stock
	if len(p.Queue) > 0 {
		first := 0
		if v.is("the last in the queue is served first") {
			first = len(p.Queue) - 1
		}
		s := v.ship(p.Queue[first])
		if s == nil || v.sell(p, s, at) {
			p.Queue = slices.Delete(p.Queue, first, first+1)
		}
	}
	for g := range p.Price {
		stock := p.Stock[g]
		if v.is("a price follows the stock of before") {
			stock = before[g]
		}
		if v.is("a price follows the stock of another good") {
			stock = p.Stock[(g+1)%3]
		}
		p.Price[g] += sign(150 - stock - 2*p.Price[g])
		if !v.is("a price has no lower limit") {
			p.Price[g] = max(p.Price[g], 5)
		}
		if v.Clock%16 == 0 {
			p.Stock[g] -= p.Stock[g] / 8
		}
	}
}

// sell sells goods of a ship, as many as the crane takes. It reports whether the ship is done.
func (v *voyage) sell(p *port, s *ship, at int) bool {
	h, left := &v.Houses[s.Owner], v.c.Crane+v.busy[at]/2
	for g := range s.Hold {
		n := min(left, s.Hold[g])
		if v.is("a good too many is sold") && n > 0 {
			n++
		}
		s.Hold[g] -= n
		p.Stock[g] += n
		pay := int64(n) * int64(p.Price[g])
		if v.is("a payment is cut to a byte") {
			pay &= 0xff
		}
		if h.Gold += pay; v.is("the other house is paid too") {
			v.Houses[(int(s.Owner)+1)%len(v.Houses)].Gold += pay / 8
		}
		left -= min(left, n)
		v.deliver(s, p, uint8(g), n)
	}
	if s.Hold != [3]int32{} {
		return false
	}
	s.Fuel = v.c.Tank
	if v.is("a tank is not filled to the end") {
		s.Fuel = v.c.Tank - 1
	}
	s.Goal, s.Wait = p.ID%uint32(len(v.Ports))+1, 3
	s.Hold[v.Clock%3] = 20 + v.draw(20)
	v.Deals = append(v.Deals, deal{House: s.Owner, Port: s.Goal, Good: uint8(v.Clock % 3), Left: 10 + v.draw(30), Pay: 50, Until: v.Clock + 80})
	return true
}

// deliver counts delivered goods for the first deal that wants them.
func (v *voyage) deliver(s *ship, p *port, good uint8, n int32) {
	for i := range v.Deals {
		if d := &v.Deals[i]; d.House == s.Owner && d.Port == p.ID && d.Good == good && d.Left > 0 && n > 0 {
			d.Left -= min(n, d.Left)
			return
		}
	}
}

// settle pays for deals, and lets houses pay their debts.
func (v *voyage) settle() {
	kept := v.Deals[:0:0]
	for i := range v.Deals {
		d := &v.Deals[i]
		late := d.Until < v.Clock
		if v.is("a deal ends a tick too soon") {
			late = d.Until <= v.Clock
		}
		if d.Left > 0 && !late {
			kept = append(kept, *d)
			continue
		}
		if v.is("an ended deal takes the next with it") && i+1 < len(v.Deals) && v.Clock%2 == 0 {
			v.Deals[i+1].Left = 0
		}
		if d.Left == 0 {
			v.Houses[d.House].Gold += d.Pay
			if !v.is("only one house becomes famous") || d.House == 0 {
				v.Houses[d.House].Fame++
			}
		}
	}
	v.Deals = kept
	for p := range v.Houses {
		h := &v.Houses[p]
		for i := 0; i < len(h.Debts); i++ {
			d := &h.Debts[i]
			if v.Clock%10 == 0 {
				more := d.Sum * v.c.Interest / 1000
				if v.is("interest is rounded up") {
					more = (d.Sum*v.c.Interest + 999) / 1000
				}
				d.Sum += more
			}
			if d.Due > v.Clock || h.Gold < d.Sum {
				continue
			}
			h.Gold -= d.Sum
			h.Debts = slices.Delete(h.Debts, i, i+1)
			if !v.is("the debt after a paid one is skipped") {
				i--
			}
		}
	}
}

// sink removes ships without a hull.
func (v *voyage) sink() {
	if v.is("the last ship takes the place of a sunk one") {
		for i := len(v.Ships) - 1; i >= 0; i-- {
			if v.Ships[i].Hull <= 0 {
				v.Ships[i] = v.Ships[len(v.Ships)-1]
				v.Ships = v.Ships[:len(v.Ships)-1]
			}
		}
		return
	}
	v.Ships = slices.DeleteFunc(v.Ships, func(s ship) bool {
		return s.Hull <= 0 && (s.Owner > 0 || !v.is("the ships of the first house do not sink"))
	})
}

func sign(n int32) int32 { return max(-1, min(1, n)) }

func abs(n int32) int32 { return max(n, -n) }

// harborBot gives random commands, most of them for ships that are there.
func harborBot(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
	dice := rand.New(rand.NewPCG(seed, uint64(p)))
	return func(s *lockstep.Simulation) []any {
		w := lockstep.World[harbor](s)
		if len(w.Ships) == 0 {
			return []any{&hire{Port: 1}}
		}
		id := w.Ships[dice.IntN(len(w.Ships))].ID
		switch dice.IntN(24) {
		case 0, 1:
			return []any{&sail{Ship: id, Port: uint32(dice.IntN(9))}}
		case 2, 3:
			return []any{&stow{Ship: id, Good: uint8(dice.IntN(3)), Amount: int16(dice.IntN(90) - 30)}}
		case 4:
			return []any{&repair{Ship: id}}
		case 5:
			return []any{&borrow{Sum: uint16(dice.IntN(500))}}
		case 6:
			return []any{&hire{Port: uint32(dice.IntN(9))}}
		}
		return nil
	}
}
