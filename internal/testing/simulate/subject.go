package simulate

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Subject is the game that is simulated.
type Subject struct {
	Game   *lockstep.Game
	Config any // a pointer to the game's configuration

	// Configure returns the configuration for a number of seats. Nil means Config for
	// every number.
	Configure func(seats uint8) (any, error)

	// Seats are the numbers of seats that New accepts, in ascending order. Plans have fewer
	// liars, and then fewer players, if there are too few. Nil means any number.
	Seats []uint8

	// Play returns a function that chooses a player's commands. The function
	// returns pointers to registered types, valid until the next call. It must
	// depend only on r and s, the player's confirmed state.
	Play func(p lockstep.Player, r *rand.Rand) func(s *lockstep.Simulation) []any

	// Relay enables matches without a referee. Step must then take commands that the
	// rules refuse.
	Relay bool

	// see returns the canonical bytes of what a viewer must get, and rows the elements of such a view, in order. Nil means no
	// viewers.
	see  func(s *lockstep.Simulation, viewer lockstep.Viewer) []byte
	rows func(view []byte) [][]byte

	packed []byte // the configuration of an artifact; it replaces Config
}

// header returns the header of a match.
func (s *Subject) header(id lockstep.MatchID, settings lockstep.Settings) (*lockstep.Header, error) {
	config := s.Config
	if s.Configure != nil {
		var err error
		if config, err = s.Configure(settings.Players); err != nil {
			return nil, err
		}
	}
	h, err := s.Game.NewHeader(id, settings, config)
	if err == nil && s.packed != nil {
		h.Config = s.packed
	}
	return h, err
}

// seatsFor returns the largest number of seats, up to wanted, that New accepts, or else the smallest.
func (s *Subject) seatsFor(wanted uint8) uint8 {
	if len(s.Seats) == 0 {
		return wanted
	}
	at, found := slices.BinarySearch(s.Seats, wanted)
	if !found {
		at = max(at-1, 0)
	}
	return s.Seats[at]
}

// Drones returns the simulator's own game: units that fly and shoot. It has few rules
// and much state, so most time is spent in the engine.
func Drones(units uint16) *Subject {
	return &Subject{Game: dronesGame, Config: &dronesConfig{units}, Play: playDrones, Relay: true, see: seenDrones, rows: rowsOfDrones}
}

type dronesConfig struct{ Units uint16 }

type drone struct {
	X, Y   int32
	VX, VY int16
	Hits   uint16
	Owner  uint8
	Armed  bool
}

type drones struct {
	Random uint64
	Fired  uint32
	Online uint64 // bits of the players
	Units  []drone
}

// A steer turns one of a player's drones and those after it.
type steer struct {
	Unit, Count uint16
	VX, VY      int16
}

// An arm lets a player's drones shoot or not.
type arm struct {
	On    bool
	Units []uint16
}

var dronesGame = lockstep.MustGame(dronesRules(seeDrones))

// dronesRules returns the rules with a view.
func dronesRules(see func(*drones, *dronesConfig, lockstep.Viewer, *dronesView) error) lockstep.Rules[drones, dronesConfig] {
	return lockstep.Rules[drones, dronesConfig]{
		Name: "drones", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[steer](1, "steer"), lockstep.Type[arm](2, "arm").Limit(4, 4*lockstep.Second)},
		New: func(w *drones, s *lockstep.Settings, c *dronesConfig) error {
			w.Random = s.Seed
			w.Units = make([]drone, c.Units)
			for i := range w.Units {
				w.Units[i] = drone{X: int32(w.draw() % 4096), Y: int32(w.draw() % 4096), Owner: uint8(i % int(s.Players))}
			}
			return nil
		},
		Step: (*drones).step,
		View: lockstep.View(see, refuseDrones), ViewOf: teamOf,
	}
}

var (
	errNoDrone  = errors.New("no such drone")
	errNotYours = errors.New("not your drone")
)

func (w *drones) draw() uint64 {
	w.Random = w.Random*6364136223846793005 + 1442695040888963407
	return w.Random >> 33
}

func (w *drones) step(_ *dronesConfig, t *lockstep.Turn) {
	for i := range t.Commands {
		w.obey(&t.Commands[i])
	}
	for i := range w.Units {
		u := &w.Units[i]
		u.X, u.Y = (u.X+int32(u.VX))&4095, (u.Y+int32(u.VY))&4095
		if u.Armed && (u.X^u.Y^int32(t.Tick))&63 == 0 {
			w.Fired++
			at := &w.Units[w.draw()%uint64(len(w.Units))]
			at.Hits++
		}
	}
}

func (w *drones) obey(c *lockstep.Command) {
	switch v := c.Value.(type) {
	case *steer:
		for i := int(v.Unit); i < min(int(v.Unit)+int(v.Count), len(w.Units)); i++ {
			if u := &w.Units[i]; u.Owner == uint8(c.Player) {
				u.VX, u.VY = v.VX, v.VY
			}
		}
	case *arm:
		for _, i := range v.Units {
			if int(i) < len(w.Units) && w.Units[i].Owner == uint8(c.Player) {
				w.Units[i].Armed = v.On
			}
		}
	case *lockstep.Joined:
		w.Online |= 1 << (v.Player & 63)
	case *lockstep.Lost:
		w.Online &^= 1 << (v.Player & 63)
	}
}

func playDrones(_ lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
	s, a, values := &steer{}, &arm{}, make([]any, 1)
	return func(sim *lockstep.Simulation) []any {
		n := uint16(len(lockstep.World[drones](sim).Units))
		if r.IntN(4) > 0 {
			*s = steer{Unit: uint16(r.UintN(uint(n) + 1)), Count: uint16(r.UintN(32)), VX: int16(r.IntN(64) - 32), VY: int16(r.IntN(64) - 32)}
			values[0] = s
			return values
		}
		a.On, a.Units = r.IntN(2) == 0, a.Units[:0]
		for range r.IntN(6) {
			a.Units = append(a.Units, uint16(r.UintN(uint(n))))
		}
		values[0] = a
		return values
	}
}
