//go:build !js

package compat

import (
	"maps"
	"slices"
	"strconv"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/lockstep"
)

// serverLabel is the server among the players of a report.
const serverLabel = "__server__"

// foreign returns a tick of the wire, whose first frame is 0. Ours is 1.
func foreign(t lockstep.Tick) int64 { return int64(t) - 1 }

// playerID returns the number of a player on the wire, which is that of the player's entity. A watcher has 0.
func playerID(w *platforms.World, p lockstep.Player) int64 {
	if p == lockstep.System {
		return 0
	}
	return int64(w.PlayerID(p))
}

// frameMessage returns the command_frame of a tick.
func frameMessage(w *platforms.World, t lockstep.Tick, orders []platforms.Order) []byte {
	var p packer
	p.mapOf(3)
	p.text("kind")
	p.text("command_frame")
	p.field("tick", foreign(t))
	p.text("commands")
	p.listOf(len(orders))
	for i := range orders {
		p.order(w, &orders[i])
	}
	return p.b
}

// order appends a command of a frame.
func (p *packer) order(w *platforms.World, o *platforms.Order) {
	fields, kind := 5, typeMove
	if o.Kind == platforms.KindJump {
		fields, kind = 4, typeJump
	}
	p.mapOf(fields)
	p.text("type")
	p.text(kind)
	p.field("issuer", playerID(w, o.Player))
	p.field("sequence", int64(min(o.Number, maxInt)))
	p.text("targets")
	p.listOf(len(o.Targets))
	for _, id := range o.Targets {
		p.number(int64(min(id, maxInt)))
	}
	if o.Kind == platforms.KindMove {
		p.field("x", int64(o.X))
	}
}

// acceptedMessage returns the command_accepted of a command.
func acceptedMessage(sequence int64, t lockstep.Tick) []byte {
	var p packer
	p.mapOf(3)
	p.text("kind")
	p.text("command_accepted")
	p.field("sequence", sequence)
	p.field("assigned_tick", foreign(t))
	return p.b
}

// errorMessage returns an error. The wire gives it no text; clients pass over keys that they do not know.
func errorMessage(text string) []byte {
	var p packer
	p.mapOf(2)
	p.text("kind")
	p.text("error")
	p.text("text")
	p.text(text)
	return p.b
}

// reportMessage returns the desync_report of a tick on the wire: players by checksum.
func reportMessage(tick int64, groups map[string][]string) []byte {
	var p packer
	p.mapOf(3)
	p.text("kind")
	p.text("desync_report")
	p.field("tick", tick)
	p.text("checksums")
	p.mapOf(len(groups))
	for _, sum := range slices.Sorted(maps.Keys(groups)) {
		p.text(sum)
		who := slices.Sorted(slices.Values(groups[sum]))
		p.listOf(len(who))
		for _, label := range who {
			p.text(label)
		}
	}
	return p.b
}

// label returns the text that names a player in a report.
func label(id int64) string { return strconv.FormatInt(id, 10) }

// syncMessage returns the state_sync with the state after a tick. The frames follow it, so it has none.
func syncMessage(sim *lockstep.Simulation, c *platforms.Config, delay lockstep.Tick, seat lockstep.Player) []byte {
	w, settings := lockstep.World[platforms.World](sim), &sim.Header().Settings
	next := foreign(sim.Tick() + 1)
	var p packer
	p.mapOf(10)
	p.text("kind")
	p.text("state_sync")
	p.field("current_tick", next)
	p.field("snapshot_tick", next)
	p.field("tick_rate", int64(settings.TickRate()))
	p.field("command_delay_ticks", int64(delay))
	p.field("checksum_interval_ticks", int64(settings.CheckEvery))
	p.text("game_config")
	p.config(c, w.Players)
	p.text("snapshot")
	p.snapshot(w, c)
	p.text("command_frames")
	p.listOf(0)
	p.field("player_id", playerID(w, seat))
	return p.b
}

// config appends the configuration of a match.
func (p *packer) config(c *platforms.Config, players uint8) {
	fields := []struct {
		key   string
		value int64
	}{
		{"player_count", int64(players)}, {"grid_columns", int64(c.GridColumns)},
		{"spawn_start_x", int64(c.SpawnStartX)}, {"spawn_start_y", int64(c.SpawnStartY)},
		{"spawn_step_x", int64(c.SpawnStepX)}, {"spawn_step_y", int64(c.SpawnStepY)},
		{"unit_collision_width", int64(c.UnitWidth)}, {"unit_collision_height", int64(c.UnitHeight)},
		{"move_step", int64(c.MoveStep)}, {"jump_rise_speed", int64(c.JumpRiseSpeed)},
		{"jump_gravity", int64(c.JumpGravity)}, {"fall_speed", int64(c.FallSpeed)},
		{"spawn_air_offset", int64(c.SpawnAir)},
	}
	p.mapOf(len(fields))
	for _, f := range fields {
		p.field(f.key, f.value)
	}
}

// snapshot appends the entities of a state.
func (p *packer) snapshot(w *platforms.World, c *platforms.Config) {
	p.mapOf(2)
	p.field("next_entity_id", int64(w.NextID()))
	p.text("entities")
	entities := w.Entities(c)
	p.listOf(len(entities))
	for i := range entities {
		e := &entities[i]
		p.mapOf(1 + len(e.Components))
		p.field("id", int64(e.ID))
		for _, part := range e.Components {
			p.text(part.Name)
			p.mapOf(len(part.Fields))
			for _, f := range part.Fields {
				p.text(f.Name)
				p.value(&f)
			}
		}
	}
}

// value appends the value of a field.
func (p *packer) value(f *platforms.Field) {
	switch {
	case f.IsText:
		p.text(f.Text)
	case f.IsList:
		p.listOf(len(f.IDs))
		for _, id := range f.IDs {
			p.number(int64(id))
		}
	default:
		p.number(f.Int)
	}
}
