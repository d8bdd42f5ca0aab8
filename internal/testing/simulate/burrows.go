package simulate

import (
	"errors"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Burrows returns a game of two teams that never see each other: what one team does changes nothing in a view of the other, or of
// spectators. So whatever these are sent must not depend on it.
func Burrows() *Subject {
	return &Subject{Game: burrowsGame, Config: &struct{}{}, Play: playBurrows, see: func(s *lockstep.Simulation, viewer lockstep.Viewer) []byte {
		view, err := s.AppendView(nil, viewer)
		if err != nil {
			panic(err) // it refuses nobody
		}
		return view
	}, rows: func(view []byte) [][]byte { return [][]byte{view} }}
}

type burrows struct {
	Ticks uint32
	Moles []mole // by player
}

type mole struct {
	Cell   uint16
	Digs   uint32
	Heard  uint32 // knocks at cells of the own team
	Stones []uint16
}

type (
	// A dig moves the player's mole to a cell.
	dig struct {
		Cell   uint16
		Stones []uint16
	}

	// A knock hears whether a mole of the own team is in a cell.
	knock struct{ Cell uint16 }
)

const (
	burrowCells = 256
	burrowTeams = 2
)

type burrowsView struct {
	Ticks uint32
	Moles []moleSeen
}

type moleSeen struct {
	ID    uint8 `feed:"id"`
	Cell  uint16
	Digs  uint32
	Heard uint32
}

var (
	errNoCell = errors.New("no such cell")
	errDug    = errors.New("a mole of your team is there")
)

var burrowsGame = lockstep.MustGame(burrowsRules())

func burrowsRules() lockstep.Rules[burrows, struct{}] {
	return lockstep.Rules[burrows, struct{}]{
		Name: "burrows", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[dig](1, "dig"), lockstep.Type[knock](2, "knock").Limit(8, 2*lockstep.Second)},
		New: func(w *burrows, s *lockstep.Settings, _ *struct{}) error {
			w.Moles = make([]mole, s.Players)
			return nil
		},
		Step: (*burrows).step,
		View: lockstep.View(seeBurrows, refuseBurrows), ViewOf: burrowsTeam,
	}
}

func burrowsTeam(_ *burrows, p lockstep.Player) lockstep.Viewer {
	return lockstep.Viewer{As: lockstep.AsTeam, Number: uint8(p) % burrowTeams}
}

func seeBurrows(w *burrows, _ *struct{}, viewer lockstep.Viewer, v *burrowsView) error {
	v.Ticks = w.Ticks
	for i := range w.Moles {
		if m := &w.Moles[i]; viewer.As == lockstep.AsTeam && uint8(i)%burrowTeams == viewer.Number {
			v.Moles = append(v.Moles, moleSeen{uint8(i), m.Cell, m.Digs, m.Heard})
		}
	}
	return nil
}

func refuseBurrows(v *burrowsView, c *lockstep.Command) error {
	switch o := c.Value.(type) {
	case *knock:
		if o.Cell >= burrowCells {
			return errNoCell
		}
	case *dig:
		for i := range v.Moles {
			if v.Moles[i].Cell == o.Cell {
				return errDug
			}
		}
	}
	return nil
}

func (w *burrows) step(_ *struct{}, t *lockstep.Turn) {
	w.Ticks++
	for i := range t.Commands {
		c := &t.Commands[i]
		if int(c.Player) >= len(w.Moles) {
			continue
		}
		m := &w.Moles[c.Player]
		switch o := c.Value.(type) {
		case *dig:
			m.Cell, m.Stones = o.Cell%burrowCells, append(m.Stones[:0], o.Stones[:min(len(o.Stones), 32)]...)
			m.Digs++
		case *knock:
			for j := int(c.Player) % burrowTeams; j < len(w.Moles); j += burrowTeams {
				if w.Moles[j].Cell == o.Cell {
					m.Heard++
				}
			}
		}
	}
}

func playBurrows(_ lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
	return func(*lockstep.Simulation) (values []any) {
		for range 1 + r.IntN(3) {
			if r.IntN(2) == 0 {
				values = append(values, &knock{uint16(r.IntN(burrowCells + 8))})
				continue
			}
			d := &dig{Cell: uint16(r.IntN(burrowCells))}
			for range r.IntN(24) {
				d.Stones = append(d.Stones, uint16(r.Uint32()))
			}
			values = append(values, d)
		}
		return values
	}
}
