package faultinjection

import (
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The harbor: ships of merchants sail between ports, trade goods at prices that follow the stock, and wear out in storms. It is
// the game of [harborBugs]; its steps are below, by what they do.
type (
	harbor struct {
		Clock  uint32
		Storm  fixed.Rand
		Wind   [2]int32
		Ports  []port
		Ships  []ship
		Houses []house // by player
		Deals  []deal
		Next   uint32  // ID of the next ship
		busy   []int32 `state:"derived"` // ships that wait, by port
	}
	port struct {
		ID    uint32
		At    [2]int32
		Stock [3]int32
		Price [3]int32
		Queue []uint32 // ships that wait
	}
	ship struct {
		ID    uint32
		Owner lockstep.Player
		At    [2]int32
		Speed [2]int32
		Goal  uint32 // a port's ID
		Hold  [3]int32
		Fuel  int32
		Hull  int32
		Wait  uint16 // ticks
		Trips uint32
	}
	house struct {
		Gold  int64
		Fame  uint32
		Debts []debt
	}
	debt struct {
		Sum int64
		Due uint32
	}
	deal struct {
		House lockstep.Player
		Port  uint32
		Good  uint8
		Left  int32
		Pay   int64
		Until uint32
	}

	sail struct{ Ship, Port uint32 }
	stow struct {
		Ship   uint32
		Good   uint8
		Amount int16
	}
	repair struct{ Ship uint32 }
	borrow struct{ Sum uint16 }
	hire   struct{ Port uint32 }

	harborConfig struct {
		Ports    uint8
		Ships    uint8 // of each house
		Tank     int32
		Wage     int32
		Interest int64 // per mille
		Crane    int32 // units of a good per tick
	}
)

// harborRules returns the rules with one mistake; "" makes none.
func harborRules(bug string) lockstep.Rules[harbor, harborConfig] {
	return lockstep.Rules[harbor, harborConfig]{
		Name: "harbor", Build: "1",
		Commands: []lockstep.CommandType{
			lockstep.Type[sail](1, "sail"), lockstep.Type[stow](2, "stow"), lockstep.Type[repair](3, "repair"),
			lockstep.Type[borrow](4, "borrow"), lockstep.Type[hire](5, "hire"),
		},
		New: func(w *harbor, s *lockstep.Settings, c *harborConfig) error {
			w.Storm, w.Next = fixed.NewStream(s.Seed, "storm"), 1
			for i := range int32(c.Ports) {
				w.Ports = append(w.Ports, port{ID: uint32(i) + 1, At: [2]int32{i * 977 % 3000, i * 1409 % 3000}, Stock: [3]int32{100 + 7*i, 80, 60 + i}, Price: [3]int32{20, 30, 40}})
			}
			for p := range s.Players {
				w.Houses = append(w.Houses, house{Gold: 1000})
				for range c.Ships {
					w.launch(c, lockstep.Player(p), uint32(p)%uint32(c.Ports)+1)
				}
			}
			return nil
		},
		Derive: func(w *harbor, _ *harborConfig) { w.derive() },
		Step: func(w *harbor, c *harborConfig, t *lockstep.Turn) {
			w.Clock++
			(&voyage{w, c, bug}).step(t)
		},
	}
}

// launch makes a ship that sails to a port.
func (w *harbor) launch(c *harborConfig, p lockstep.Player, to uint32) *ship {
	w.Ships = append(w.Ships, ship{ID: w.Next, Owner: p, Goal: to, Fuel: c.Tank, Hull: 100})
	w.Next++
	return &w.Ships[len(w.Ships)-1]
}

func (w *harbor) derive() {
	w.busy = w.busy[:0]
	for i := range w.Ports {
		w.busy = append(w.busy, int32(len(w.Ports[i].Queue)))
	}
}

func (w *harbor) ship(id uint32) *ship {
	i := slices.IndexFunc(w.Ships, func(s ship) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &w.Ships[i]
}

func (w *harbor) port(id uint32) *port { return &w.Ports[(id-1)%uint32(len(w.Ports))] }

func (w *harbor) draw(n uint32) int32 { return int32(w.Storm.Uint64() >> 33 % uint64(n)) }

// A voyage is one step of the harbor.
type voyage struct {
	*harbor
	c   *harborConfig
	bug string
}

// is reports whether the rules have a mistake.
func (v *voyage) is(bug string) bool { return v.bug == bug }

func (v *voyage) step(t *lockstep.Turn) {
	for i := range t.Commands {
		if v.is("commands after the second are skipped") && i > 1 {
			break
		}
		v.obey(&t.Commands[i])
	}
	v.blow()
	for i := range v.Ships {
		at := i
		if v.is("ships move from the last to the first") {
			at = len(v.Ships) - 1 - i
		}
		v.move(&v.Ships[at])
	}
	for i := range v.Ports {
		v.trade(i)
	}
	v.settle()
	v.sink()
	if !v.is("a cache is not rebuilt in every eighth tick") || v.Clock%8 > 0 {
		v.derive()
	}
}

// obey runs a command.
func (v *voyage) obey(c *lockstep.Command) {
	if c.Player == lockstep.System {
		return
	}
	own := func(id uint32) *ship {
		if s := v.ship(id); s != nil && (s.Owner == c.Player || v.is("a house sails the ships of others")) {
			return s
		}
		return nil
	}
	h := &v.Houses[c.Player]
	switch m := c.Value.(type) {
	case *sail:
		if s := own(m.Ship); s != nil {
			s.Goal = v.port(m.Port).ID
			if !v.is("a ship that waits sails on at once") {
				s.Wait = max(s.Wait, 2)
			}
		}
	case *stow:
		if s := own(m.Ship); s != nil {
			amount := int32(m.Amount) % 50
			if !v.is("a negative load is taken") {
				amount = max(amount, 0)
			}
			p := v.port(s.Goal)
			amount = min(amount, p.Stock[m.Good%3])
			s.Hold[m.Good%3] += amount
			p.Stock[m.Good%3] -= amount
		}
	case *repair:
		if s := own(m.Ship); s != nil && h.Gold >= 20 {
			h.Gold -= 20
			if s.Hull += 15; !v.is("a hull is repaired above its limit") {
				s.Hull = min(s.Hull, 100)
			}
		}
	case *borrow:
		h.Gold += int64(m.Sum)
		due := v.Clock + 60
		if v.is("a debt is due too soon") {
			due = v.Clock + 50
		}
		h.Debts = append(h.Debts, debt{int64(m.Sum), due})
	case *hire:
		if h.Gold >= 300 && len(v.Ships) < 60 {
			h.Gold -= 300
			s := v.launch(v.c, c.Player, v.port(m.Port).ID)
			s.At = [2]int32{1500, 1500}
			if v.is("a new ship has half a tank") {
				s.Fuel /= 2
			}
		}
	}
}

// blow turns the wind, and lets a storm damage ships.
func (v *voyage) blow() {
	for i := range v.Wind {
		v.Wind[i] = max(-20, min(20, v.Wind[i]+v.draw(7)-3))
	}
	if v.is("a draw more in a calm") && v.Wind[0] == 0 {
		v.draw(2)
	}
	if v.Clock%5 > 0 {
		return
	}
	for i := range v.Ships {
		s := &v.Ships[i]
		hit := s.ID%3 == v.Clock/5%3
		if v.is("a storm hits by index") {
			hit = uint32(i+1)%3 == v.Clock/5%3
		}
		n := uint32(6)
		if v.is("damage is one of five values") {
			n = 5
		}
		if hit {
			s.Hull -= v.draw(n)
		}
	}
}
