package record

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/state"
)

// The contents of a log must fit its header: players have seats, and the configuration, the states and the payloads are
// values of the header's own schemas. Tools without the game's code rely on it, and a game may panic on a player
// without a seat. Errors do not wrap their causes: a value that ends too early does not mean that the log does.
type contents struct {
	seats Player
	ours  bool // the commands of System are this engine's
	state *state.Schema
	ends  *state.Schema                 // of the result; nil if the rules have none
	kinds map[CommandKind]*state.Schema // only looked up, never ranged over
}

// newContents returns the rules of a header for the records after it, or an error if the header contradicts itself.
func newContents(h *Header) (*contents, error) {
	if err := h.CheckSchemas(); err != nil {
		return nil, fmt.Errorf("%w: %w: %w", ErrMalformed, pack.ErrLimit, err)
	}
	c := &contents{seats: Player(h.Settings.Players), ours: h.Engine == Engine, kinds: make(map[CommandKind]*state.Schema, len(h.Commands))}
	config, err := state.ParseSchema(h.ConfigSchema)
	if err != nil {
		return nil, fmt.Errorf("%w: schema of the configuration: %v", ErrContent, err)
	}
	if err := config.Validate(h.Config); err != nil {
		return nil, fmt.Errorf("%w: configuration: %v", ErrContent, err)
	}
	if c.state, err = state.ParseSchema(h.StateSchema); err != nil {
		return nil, fmt.Errorf("%w: schema of the state: %v", ErrContent, err)
	}
	if len(h.ResultSchema) > 0 {
		if c.ends, err = state.ParseSchema(h.ResultSchema); err != nil {
			return nil, fmt.Errorf("%w: schema of the result: %v", ErrContent, err)
		}
	}
	all := []*state.Schema{config, c.state}
	if c.ends != nil {
		all = append(all, c.ends)
	}
	for i := range h.Commands {
		d := &h.Commands[i]
		if c.kinds[d.Kind], err = state.ParseSchema(d.Schema); err != nil {
			return nil, fmt.Errorf("%w: schema of command %q: %v", ErrContent, d.Name, err)
		}
		all = append(all, c.kinds[d.Kind])
	}
	if slices.ContainsFunc(all, (*state.Schema).Floats) {
		return nil, fmt.Errorf("%w: a schema has floats, which no rules can have", ErrContent)
	}
	return c, nil
}

// seat checks that a player has a seat, or is System.
func (d *Decoder) seat(p Player) error {
	if d.contents == nil || p == System || p < d.contents.seats {
		return nil
	}
	return fmt.Errorf("%w: player %d in a match of %d seats", ErrContent, p, d.contents.seats)
}

// fits compares the present record with the header.
func (d *Decoder) fits() error {
	if d.contents == nil {
		return nil
	}
	switch r := &d.rec; r.Kind {
	case KindKeyframe:
		for _, l := range r.Keyframe.Last {
			if err := d.seat(l.Player); err != nil {
				return fmt.Errorf("keyframe of tick %d: %w", r.Tick, err)
			}
		}
		if err := d.contents.state.Validate(r.Keyframe.State); err != nil {
			return fmt.Errorf("keyframe of tick %d: %w: %v", r.Tick, ErrContent, err)
		}
	case KindFrame:
		return d.commands(&r.Frame)
	case KindPanic:
		return d.commands(&r.Panic.Frame)
	case KindMismatch:
		return d.seat(r.Player)
	case KindEnd:
		return d.result(r)
	}
	return nil
}

// result checks the result in an end record.
func (d *Decoder) result(r *Record) error {
	if !r.ByRules {
		return nil
	}
	if d.contents.ends == nil {
		return fmt.Errorf("%w: the rules end a match, but have no result", ErrContent)
	}
	if len(r.Result) == 0 {
		return nil
	}
	if err := d.contents.ends.Validate(r.Result); err != nil {
		return fmt.Errorf("%w: result: %v", ErrContent, err)
	}
	return nil
}

// commands checks the commands of a frame.
func (d *Decoder) commands(f *Frame) error {
	for i := range f.Commands {
		c := &f.Commands[i]
		if err := d.command(c); err != nil {
			return fmt.Errorf("frame %d: command %d of player %d: %w", c.Tick, c.Sequence, c.Player, err)
		}
	}
	return nil
}

// command checks the player, the kind and the payload of a command.
func (d *Decoder) command(c *Command) error {
	if c.Player == System {
		return d.system(c)
	}
	if err := d.seat(c.Player); err != nil {
		return err
	}
	schema := d.contents.kinds[c.Kind]
	if schema == nil {
		return fmt.Errorf("%w: %w %d", ErrContent, ErrUnknownKind, c.Kind)
	}
	if err := schema.Validate(c.Payload); err != nil {
		return fmt.Errorf("%w: payload: %v", ErrContent, err)
	}
	return nil
}

// system checks a command of System. Commands of another engine have an unknown meaning and are not checked.
func (d *Decoder) system(c *Command) error {
	if !d.contents.ours {
		return nil
	}
	value, err := SystemValue(c)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrContent, err)
	}
	p, ok := about(value)
	switch v := value.(type) {
	case *Resumed:
		ok = v.Player != System // System may resume a match that everybody has left
	case *SpeedSet:
		err = CheckSpeed(v.Percent)
	case *InputDelaySet:
		err = CheckInputDelay(Tick(v.Ticks))
	}
	if err != nil {
		return fmt.Errorf("%w: %v", ErrContent, err)
	}
	if ok && p >= d.contents.seats {
		return fmt.Errorf("%w: it is about player %d in a match of %d seats", ErrContent, p, d.contents.seats)
	}
	return nil
}

// about returns the player that a command of System concerns, if there is one.
func about(value any) (p Player, ok bool) {
	switch v := value.(type) {
	case *Joined:
		return v.Player, true
	case *Left:
		return v.Player, true
	case *Lost:
		return v.Player, true
	case *TakenOver:
		return v.Player, true
	case *Paused:
		return v.Player, true
	case *Resumed:
		return v.Player, true
	}
	return 0, false
}

// Limits of a match's speed, in percent of its tick rate.
const (
	MinSpeed = 10
	MaxSpeed = 1000
)

// CheckSpeed returns an error if a speed is out of its range.
func CheckSpeed(percent uint16) error {
	if percent < MinSpeed || percent > MaxSpeed {
		return fmt.Errorf("lockstep: speed: got %d percent, want %d to %d", percent, MinSpeed, MaxSpeed)
	}
	return nil
}

// CheckInputDelay returns an error if an input delay is out of its range.
func CheckInputDelay(ticks Tick) error {
	if ticks < 1 || ticks > MaxInputDelay {
		return fmt.Errorf("lockstep: input delay: got %d ticks, want 1 to %d", ticks, MaxInputDelay)
	}
	return nil
}
