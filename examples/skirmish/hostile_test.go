package skirmish

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// sound returns what is wrong with a world that only Step has changed.
func sound(w *World) error {
	counts := make([]Player, len(w.Players))
	last := UnitID(0)
	for i := range w.Units {
		u := &w.Units[i]
		switch {
		case u.ID <= last || u.ID > w.Match.NextID:
			return fmt.Errorf("unit %d after %d, next is %d", u.ID, last, w.Match.NextID)
		case !w.workspace.ground.Free(u.Pos):
			return fmt.Errorf("unit %d stands in rock at %v", u.ID, u.Pos)
		case u.Health == 0 || u.Health > u.Kind.Traits().Health:
			return fmt.Errorf("unit %d, %v, has health %d", u.ID, u.Kind, u.Health)
		case int(u.Owner) >= len(w.Players) || u.Team != w.Players[u.Owner].Team:
			return fmt.Errorf("unit %d is of player %d and team %d", u.ID, u.Owner, u.Team)
		}
		last = u.ID
		counts[u.Owner].Units++
		if u.Kind.Building() {
			counts[u.Owner].Buildings++
		}
	}
	for p := range w.Players {
		if got := w.Players[p]; got.Units != counts[p].Units || got.Buildings != counts[p].Buildings {
			return fmt.Errorf("player %d has %d units, %d buildings; want %d, %d", p,
				got.Units, got.Buildings, counts[p].Units, counts[p].Buildings)
		}
		if w.Players[p].Crystals > 1<<24 {
			return fmt.Errorf("player %d has %d crystals", p, w.Players[p].Crystals)
		}
	}
	return nil
}

// nonsense reads well-formed commands from bytes, sensible or not.
type nonsense struct{ data []byte }

func (n *nonsense) next() uint64 {
	var b [8]byte
	n.data = n.data[copy(b[:], n.data):]
	return binary.LittleEndian.Uint64(b[:])
}

// id usually returns a plausible unit ID.
func (n *nonsense) id() UnitID {
	x := n.next()
	if x%16 == 0 {
		return UnitID(x >> 32)
	}
	return UnitID(x>>32) % 120
}

func (n *nonsense) who() Who {
	x := n.next()
	who := Who{Group: uint8(x>>8) % 12}
	if x%2 == 0 {
		who.Group = 0
		for range x >> 16 % 8 {
			who.Units = append(who.Units, n.id())
		}
	}
	return who
}

func (n *nonsense) point() Point {
	x := n.next()
	if x%8 == 0 {
		return Point{uint16(x >> 16), uint16(x >> 32)}
	}
	return Point{uint16(x>>16) % 600, uint16(x>>32) % 600}
}

func (n *nonsense) command() lockstep.Command {
	x := n.next()
	c := lockstep.Command{Player: lockstep.Player(x >> 8 % 6)}
	switch x % 20 {
	case 0:
		c.Value = &Move{n.who(), n.point(), x>>16%2 == 0}
	case 1:
		c.Value = &AttackMove{n.who(), n.point(), x>>16%2 == 0}
	case 2:
		c.Value = &Patrol{n.who(), n.point()}
	case 3:
		c.Value = &Attack{n.who(), n.id()}
	case 4:
		c.Value = &Stop{n.who()}
	case 5:
		c.Value = &Gather{n.who(), uint16(x>>16) % 40}
	case 6:
		c.Value = &Build{n.who(), UnitKind(x>>16) % 9, n.point()}
	case 7:
		c.Value = &Train{n.id(), UnitKind(x>>16) % 9, uint8(x >> 24)}
	case 8:
		who := n.who()
		c.Value = &Assign{uint8(x>>16) % 12, x>>24%2 == 0, who.Units}
	case 9:
		c.Player, c.Value = lockstep.System, &lockstep.Lost{Player: c.Player}
	case 10:
		c.Player, c.Value = lockstep.System, &lockstep.Joined{Player: c.Player}
	case 11:
		c.Player, c.Value = lockstep.System, &lockstep.TakenOver{Player: c.Player}
	case 12:
		c.Value = &Propose{uint8(x>>16) % 6, x>>24%4 == 0}
	case 13:
		c.Value = &Accept{uint8(x>>16) % 6}
	case 14:
		c.Value = &Break{}
	case 15:
		c.Value = &Surrender{x>>16%2 == 0}
	case 16:
		c.Value = &Permit{x>>16%2 == 0}
	case 17:
		c.Value = &Ping{n.point()}
	case 18:
		c.Value = &Hold{n.who()}
	default:
		if x>>16%16 == 0 {
			c.Player, c.Value = lockstep.System, &lockstep.Left{Player: c.Player}
		}
	}
	return c
}

// runNonsense plays the commands without validating them, and checks the world after every tick.
func runNonsense(t *testing.T, data []byte) uint64 {
	config := Defaults(4, 100)
	config.Crystals = 5000
	w := newWorld(t, 3, 4, config)
	n := &nonsense{data}
	tick := lockstep.Tick(0)
	for len(n.data) > 0 || tick < 60 {
		tick++
		turn := &lockstep.Turn{Tick: tick}
		for len(n.data) > 0 && len(turn.Commands) < 3 {
			c := n.command()
			if c.Player != lockstep.System && Judge(w, c.Player)(c.Value) == nil && c.Value == nil {
				t.Fatal("the rules take a command without a value")
			}
			turn.Commands = append(turn.Commands, c)
		}
		step(w, nil, turn)
		if err := sound(w); err != nil {
			t.Fatalf("tick %d: %v", tick, err)
		}
		if w.Match.Ended != 0 && w.Match.Tick+1 == w.Match.Ended+endTicks {
			break // the next tick is the last one, and only the Turn of a Simulation can end
		}
	}
	var sum checksum.Sum
	checksum.Of(&sum, codec, w)
	return sum.Hash
}

// The world stays sound with every well-formed command.
func FuzzStep(f *testing.F) {
	dice := fixed.NewRand(1)
	for range 12 {
		data := make([]byte, 3000)
		for i := range data {
			data[i] = byte(dice.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 20000)]
		if a, b := runNonsense(t, data), runNonsense(t, data); a != b {
			t.Errorf("two runs gave checksums %x and %x", a, b)
		}
	})
}

// Step survives a world, with alliances too, in which any field has a wrong value, as on a machine with a fault, and so does Derive.
func TestStepCorruptWorld(t *testing.T) {
	w := newBattle(t, 200)
	advance(w, 100)
	w.Players[3].Team, w.Players[3].Offers = 0, 1<<2 // so 2 may join and 3 may leave
	clean := codec.Append(nil, w)
	dice := fixed.NewRand(4)
	bad := new(World)
	for range 1500 {
		bytes := append([]byte(nil), clean...)
		leaves, err := codec.Schema().Leaves(bytes)
		if err != nil {
			t.Fatal(err)
		}
		at := dice.N(uint32(len(bytes) / 4))
		path := ""
		for leaf := range leaves {
			if at--; at == 0 {
				if leaf.Node.Kind() == state.Bool || dice.Bool() {
					leaf.Flip()
				} else {
					for i := range leaf.Bytes {
						leaf.Bytes[i] = byte(dice.Uint32())
					}
				}
				path = leaf.Path
				break
			}
		}
		if path == "" {
			continue
		}
		if err := codec.Decode(bytes, bad); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("after a change of %s: %v", path, v)
				}
			}()
			derive(bad)
			advance(bad, 12, by(0, &Propose{To: 1}), by(1, &Accept{From: 0}), by(2, &Accept{From: 3}), by(3, &Break{}), by(2, &Surrender{}), by(1, &Permit{}))
			bad.History(1)
			bad.Open()
			bad.Sees(Observers, cells(20, 20))
		}()
	}
}
