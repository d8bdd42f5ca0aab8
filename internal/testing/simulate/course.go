package simulate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

// An order is a player's command and its tick.
type order struct {
	tick  lockstep.Tick
	place uint64
	kind  lockstep.Kind
}

// lasts returns the last sequence of each player up to a tick.
func (o *oracle) lasts(t lockstep.Tick) (last [256]uint32) {
	from := lockstep.Tick(0)
	for i := len(o.saved) - 1; i >= 0; i-- {
		if o.saved[i].tick <= t {
			from, last = o.saved[i].tick, o.saved[i].last
			break
		}
	}
	at, _ := slices.BinarySearchFunc(o.course, from+1, func(c order, t lockstep.Tick) int { return cmp.Compare(c.tick, t) })
	for ; at < len(o.course) && o.course[at].tick <= t; at++ {
		last[uint8(o.course[at].place>>32)] = uint32(o.course[at].place)
	}
	return last
}

// given records whether a client was sent the state of a wrong referee, perhaps from
// before a crash.
func (o *oracle) given(w *wire, state []byte) {
	if t, _, _, err := keyframeOf(state); err == nil && w.m != nil {
		w.m.truth.misled, w.m.truth.given = !o.w.referee.right(t), t
	}
}

// joined checks the sequences in a keyframe for a client: the last one of each player
// up to its tick.
func (o *oracle) joined(w *wire, state []byte) {
	t, hash, told, err := keyframeOf(state)
	o.w.relay.handed(o.w, w.m, t, hash)
	want := map[uint8]uint32{}
	for player, seq := range o.lasts(t) {
		if seq > 0 && player != system {
			want[uint8(player)] = seq
		}
	}
	delete(told, system)
	if err != nil || !maps.Equal(told, want) {
		o.w.fail("I2", "%s joined at tick %d with the last sequences %v, want %v", w.m, t, told, want)
	}
}

// contentOf returns a hash of a command.
func contentOf(kind lockstep.Kind, payload []byte) uint64 {
	return xxhash.Sum64(payload)*31 + uint64(kind)
}

// limitedTo checks that the log has no more commands of a kind in a window than the game allows.
func (o *oracle) limitedTo(player uint8, kind lockstep.Kind, t lockstep.Tick) {
	l := o.subject.Game.CommandLimit(kind)
	if l.N == 0 {
		return
	}
	per := lockstep.Tick(max(1, o.header.Settings.TicksIn(int64(l.Per))))
	o.limits = append(o.limits, limitedOrder{t, player, kind})
	n := 0
	for i := len(o.limits) - 1; i >= 0 && o.limits[i].tick+per > t; i-- {
		if o.limits[i].player == player && o.limits[i].kind == kind {
			n++
		}
	}
	if n > l.N {
		o.w.fail("I14", "player %d has %d commands of kind %d in the %d ticks up to %d, the game allows %d", player, n, kind, per, t, l.N)
	}
}

// A limitedOrder is a command of a limited kind.
type limitedOrder struct {
	tick   lockstep.Tick
	player uint8
	kind   lockstep.Kind
}
