package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Bot plays for one player like a person: it reads the world of its own follower, as far as its team sees it, and
// gives an order every few seconds, as often as its [Strength] allows. It neither offers nor accepts an alliance. It is not part of the simulation. With
// the same seed and the same worlds it gives the same orders.
type Bot struct {
	player uint8
	style  *style
	rand   fixed.Rand
	next   uint32 // tick of the next thought
	view   view
	groups [ArmyGroups + 1]campaign
	alarm  uint32 // tick of the last call to defend
	plan   plan   // of a match that begins small

	explorer UnitID // the unit sent to scout last
	scouted  bool   // its second order is due

	sent    []Order
	command struct { // memory of the present order
		move    Move
		advance AttackMove
		patrol  Patrol
		attack  Attack
		gather  Gather
		build   Build
		train   Train
		assign  Assign
		members []UnitID
		resign  Surrender
	}
}

// A plan is what a bot keeps in mind of a match that begins small: it builds an economy, attacks in waves that grow, and turns
// back from a fight that it would lose.
type plan struct {
	begun   uint32 // tick of the first thought
	small   bool
	wave    int    // units in the next attack
	out     bool   // the army is attacking
	since   uint32 // tick of the last attack or retreat
	ordered uint32 // tick of the last order to the whole army
	scouted uint32 // tick at which the last scout left
	rivals  int    // units in the largest enemy army remembered
	sized   uint32 // tick at which rivals was seen
	rallied UnitID // the last barracks with a rally point
}

// An Order is a command that a [Bot] wants to give. Value is a pointer to the command type of Kind.
type Order struct {
	Kind  lockstep.Kind
	Value any
}

// NewBot returns a bot of normal strength for a player.
func NewBot(player lockstep.Player, seed uint64) *Bot { return Normal.NewBot(player, seed) }

// NewBot returns a bot of a strength for a player.
func (s Strength) NewBot(player lockstep.Player, seed uint64) *Bot {
	b := &Bot{player: uint8(player), style: &styles[min(s, Hard)], rand: fixed.NewRand(seed + uint64(player)<<32)}
	b.next = 5 + b.rand.N(20)
	return b
}

func (b *Bot) give(kind lockstep.Kind, value any) bool {
	b.sent = append(b.sent, Order{kind, value})
	return true
}

// only returns a Who of one unit.
func (b *Bot) only(id UnitID) Who {
	b.command.members = append(b.command.members[:0], id)
	return Who{Units: b.command.members}
}

// moveTo and attackTo give the order of that kind.
func (b *Bot) moveTo(who Who, to fixed.Vec2) bool {
	b.command.move = Move{Who: who, To: PointAt(to)}
	return b.give(KindMove, &b.command.move)
}

func (b *Bot) attackTo(who Who, to fixed.Vec2) bool {
	b.command.advance = AttackMove{Who: who, To: PointAt(to)}
	return b.give(KindAttackMove, &b.command.advance)
}

// near returns a random place on the map, at most spread cells away on each axis.
func (b *Bot) near(w *World, p fixed.Vec2, spread int64) fixed.Vec2 {
	reach := fixed.FromInt(spread)
	edge := fixed.Q(w.Map.Size-1) * fixed.One
	return fixed.Vec2{
		X: fixed.Clamp(p.X+b.rand.Range(-reach, reach), 0, edge),
		Y: fixed.Clamp(p.Y+b.rand.Range(-reach, reach), 0, edge),
	}
}
