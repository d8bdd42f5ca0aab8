package watch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// ErrLimit is returned for a match that is too long for the page.
var ErrLimit = errors.New("watch: the match is too long to be watched here")

// Limits that bound the memory and time for a hostile file.
const (
	maxTicks       = 1 << 22 // 58 hours of 20 ticks a second
	maxCommands    = 1 << 21
	maxMismatching = 1 << 16 // mismatching checksums of players
)

// A recording is the content of a file without the states.
type recording struct {
	header     *lockstep.Header
	size       int
	last       lockstep.Tick
	keyframes  []lockstep.Tick
	commands   []lockstep.Command // in the log's order
	checks     []check            // by tick
	mismatches []Mismatch         // by tick
	names      map[lockstep.Player]string
	ended      string // the end record's reason
	over       bool   // the end record was read
	damage     error  // the fault that ends the file early

	game      *lockstep.Game
	describer *lockstep.Describer
}

type check struct {
	tick lockstep.Tick
	hash uint64
}

// A Mismatch is a player's mismatching checksum in the log.
type Mismatch struct {
	Tick   lockstep.Tick   `json:"tick"`
	Player lockstep.Player `json:"player"`
}

// read reads all records of a file, without the states.
func read(file []byte, games []*lockstep.Game) (*recording, *replay.Reader, error) {
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil, err
	}
	rec := &recording{size: len(file), names: make(map[lockstep.Player]string)}
	for next, nerr := range r.All() {
		if err = nerr; err == nil {
			err = rec.add(next)
		}
		if err != nil {
			break
		}
	}
	damage := err
	if rec.header != nil {
		if rec.game, err = gameOf(rec.header, games); err != nil {
			return nil, nil, err
		}
	}
	if errors.Is(damage, ErrLimit) {
		return nil, nil, damage
	}
	rec.damage = damage
	if rec.header == nil || len(rec.keyframes) == 0 {
		if rec.damage == nil {
			return nil, nil, ErrEmpty
		}
		return nil, nil, fmt.Errorf("%w: %w", ErrEmpty, rec.damage)
	}
	if rec.describer, err = lockstep.NewDescriber(rec.header, rec.game); err != nil {
		return nil, nil, err
	}
	return rec, r, nil
}

// gameOf returns the game of a header.
func gameOf(h *lockstep.Header, games []*lockstep.Game) (*lockstep.Game, error) {
	reason := fmt.Errorf("watch: the replay is of the game %q, and this program has none", h.Game)
	for i, g := range games {
		err := g.CheckIdentity(h)
		if err == nil {
			return g, nil
		}
		if i == 0 || g.Name() == h.Game {
			reason = err
		}
	}
	return nil, reason
}

func (r *recording) add(rec *record.Record) error {
	if rec.Ticks() > 0 {
		r.last = rec.Tick
	}
	for _, c := range rec.Frame.Commands {
		c.Payload = bytes.Clone(c.Payload)
		r.commands = append(r.commands, c)
	}
	switch rec.Kind {
	case record.KindHeader:
		h := *rec.Header
		r.header = &h
	case record.KindKeyframe:
		if n := len(r.keyframes); n == 0 || rec.Tick == r.last && rec.Tick > r.keyframes[n-1] {
			r.keyframes = append(r.keyframes, rec.Tick)
			r.check(rec.Tick, rec.Keyframe.Hash)
			r.last = rec.Tick
		}
	case record.KindChecksum:
		r.check(rec.Tick, rec.Hash)
	case record.KindMismatch:
		r.mismatches = append(r.mismatches, Mismatch{rec.Tick, rec.Player})
	case record.KindNote:
		if rec.Topic == record.TopicName {
			r.names[rec.Player] = rec.Text
		}
	case record.KindEnd:
		r.over, r.ended = true, rec.Text
	}
	if len(r.keyframes) > 0 && r.last-r.keyframes[0] > maxTicks || len(r.commands) > maxCommands || len(r.mismatches) > maxMismatching {
		return fmt.Errorf("%w: got tick %d and %d commands, want at most %d and %d", ErrLimit, r.last, len(r.commands), maxTicks, maxCommands)
	}
	return nil
}

// check notes a checksum. It ignores a second one of a tick: if they differ, the first one shows the fault.
func (r *recording) check(t lockstep.Tick, hash uint64) {
	i, found := slices.BinarySearchFunc(r.checks, t, func(c check, t lockstep.Tick) int { return cmp.Compare(c.tick, t) })
	if !found {
		r.checks = slices.Insert(r.checks, i, check{t, hash})
	}
}

// commandsAt returns the commands of a tick.
func (r *recording) commandsAt(t lockstep.Tick) []lockstep.Command {
	return r.commands[r.firstAt(t):r.firstAt(t+1)]
}

// firstAt returns the index of the first command at or after a tick.
func (r *recording) firstAt(t lockstep.Tick) int {
	return sort.Search(len(r.commands), func(i int) bool { return r.commands[i].Tick >= t })
}

// checkAt returns the log's checksum of a tick.
func (r *recording) checkAt(t lockstep.Tick) (uint64, bool) {
	i, found := slices.BinarySearchFunc(r.checks, t, func(c check, t lockstep.Tick) int { return cmp.Compare(c.tick, t) })
	if !found {
		return 0, false
	}
	return r.checks[i].hash, true
}
