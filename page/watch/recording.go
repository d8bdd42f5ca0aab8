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

// ErrEmpty is returned for a file without a state to begin at.
var ErrEmpty = errors.New("watch: the replay has no state to begin at")

// Limits that bound the memory and time for a hostile file.
const (
	maxTicks       = 1 << 22 // 58 hours of 20 ticks a second
	maxCommands    = 1 << 21
	maxMismatching = 1 << 16   // mismatching checksums of players
	maxRecorded    = 192 << 20 // bytes of recorded states: as many as lines of the allowed size can have
)

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

	game      *lockstep.Game // nil if it is a recording of another engine
	describer *lockstep.Describer
	recorded  *replay.Recorded // the states of such a recording, or nil
	stored    int              // their bytes
	silences  []silence        // of its players, by tick
}

type check struct {
	tick lockstep.Tick
	hash uint64
}

// A Mismatch is a player's mismatching checksum in the log.
type Mismatch struct {
	Tick   lockstep.Tick   `json:"tick"`
	Player lockstep.Player `json:"player"`

	hash uint64
}

// A silence is the tick from which on a player reports checksums no more, or again.
type silence struct {
	tick   lockstep.Tick
	player lockstep.Player
	silent bool
}

func (r *recording) silence(rec *record.Record) {
	if r.recorded != nil && rec.Event == record.EventReports {
		r.silences = append(r.silences, silence{rec.Tick, rec.Player, rec.Text != "yes"})
	}
}

// ErrForeign is returned for a recording of another engine, which has no game to play it. See [OpenRecording].
var ErrForeign = errors.New("watch: the replay is a recording of another engine, which the page of samestep serve --game minimal shows")

func read(file []byte) (*recording, *replay.Reader, error) {
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil, err
	}
	rec := &recording{size: len(file), names: make(map[lockstep.Player]string)}
	for next, err := range r.All() {
		if err == nil {
			err = rec.add(next)
		}
		if rec.damage = err; err != nil {
			break
		}
	}
	return rec, r, nil
}

// complete returns why a file cannot be watched, or nil, and makes the describer of its commands.
func (r *recording) complete() (err error) {
	switch started := r.header != nil && len(r.keyframes) > 0; {
	case errors.Is(r.damage, ErrLimit):
		return r.damage
	case !started && r.damage == nil:
		return ErrEmpty
	case !started:
		return fmt.Errorf("%w: %w", ErrEmpty, r.damage)
	}
	r.describer, err = lockstep.NewDescriber(r.header, r.game)
	return err
}

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
		if h.Engine == replay.ForeignEngine {
			r.recorded = &replay.Recorded{}
		}
	case record.KindKeyframe:
		if n := len(r.keyframes); n == 0 || rec.Tick == r.last && rec.Tick > r.keyframes[n-1] {
			r.keyframes = append(r.keyframes, rec.Tick)
			if r.recorded == nil { // else it is the checksum of an empty state
				r.check(rec.Tick, rec.Keyframe.Hash)
			}
			r.last = rec.Tick
		}
	case record.KindChecksum:
		r.check(rec.Tick, rec.Hash)
	case record.KindMismatch:
		r.mismatches = append(r.mismatches, Mismatch{rec.Tick, rec.Player, rec.Hash})
	case record.KindEvent:
		r.silence(rec)
	case record.KindNote:
		if rec.Topic == record.TopicName {
			r.names[rec.Player] = rec.Text
		}
	case record.KindForeign:
		if err := r.line(rec); err != nil {
			return err
		}
	case record.KindEnd:
		r.over, r.ended = true, rec.Text
	}
	if len(r.keyframes) > 0 && r.last-r.keyframes[0] > maxTicks || len(r.commands) > maxCommands || len(r.mismatches) > maxMismatching {
		return fmt.Errorf("%w: got tick %d and %d commands, want at most %d and %d", ErrLimit, r.last, len(r.commands), maxTicks, maxCommands)
	}
	return nil
}

func (r *recording) line(rec *record.Record) error {
	if r.recorded == nil {
		return nil
	}
	before := len(r.recorded.States)
	if err := r.recorded.Add(rec); err != nil {
		return err
	}
	if len(r.recorded.States) > before {
		r.stored += len(rec.Line)
	}
	if r.stored > maxRecorded {
		return fmt.Errorf("%w: its states have more than %d bytes", ErrLimit, maxRecorded)
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

func (r *recording) firstAt(t lockstep.Tick) int {
	return sort.Search(len(r.commands), func(i int) bool { return r.commands[i].Tick >= t })
}

func (r *recording) checkAt(t lockstep.Tick) (uint64, bool) {
	i, found := slices.BinarySearchFunc(r.checks, t, func(c check, t lockstep.Tick) int { return cmp.Compare(c.tick, t) })
	if !found {
		return 0, false
	}
	return r.checks[i].hash, true
}

// Recorded describes a recording of another engine.
type Recorded struct {
	States int    `json:"states"`
	Type   string `json:"type"` // of the states, as text, or ""
}

// ErrSimulated is returned for a replay that is no recording of another engine. See [Open].
var ErrSimulated = errors.New("watch: the replay is no recording of another engine")

const maxBundled = 256 << 20

func isBundle(file []byte) bool { return bytes.HasPrefix(file, []byte("PK\x03\x04")) }

// A Known is a game whose rules a page has.
type Known struct {
	*lockstep.Game
	Sum    replay.Hash // of the module with the rules; zeros for rules of the program itself
	InFile bool        // the module was in a replay
}

// Fitting returns the games with which the match in a file may be watched: that of the module that the file names, or else those of
// the program. If it names none, those of all modules that were not in a replay fit, too.
func Fitting(file []byte, all ...Known) (games []*lockstep.Game) {
	r, h := beginning(file)
	if h == nil {
		r = nil
	}
	sum := sumOf(r)
	if sum != nil {
		for _, k := range all {
			if k.Sum == *sum {
				games = append(games, k.Game)
			}
		}
	}
	if len(games) > 0 {
		return games
	}
	for _, k := range all {
		if k.Sum == (replay.Hash{}) || sum == nil && !k.InFile {
			games = append(games, k.Game)
		}
	}
	return games
}

// A Need is a match whose rules are needed to watch its file.
type Need struct {
	Game   string `json:"game"`
	Build  string `json:"build"`
	Sum    string `json:"sum"`    // of the module with them, if the file names it
	Module bool   `json:"module"` // whether the file has them
}

// NeedOf returns what is needed to watch a file besides the games, or nil. It is nil of a file that [Open] refuses anyway.
func NeedOf(file []byte, all ...Known) *Need {
	r, h := beginning(file)
	if h == nil || h.Engine != record.Engine || slices.ContainsFunc(Fitting(file, all...), func(g *lockstep.Game) bool { return g.CheckIdentity(h) == nil }) {
		return nil
	}
	n := &Need{Game: h.Game, Build: h.Build}
	if rules, err := r.Rules(); err == nil && rules != nil {
		n.Sum, n.Module = rules.Sum.String(), rules.SizeBytes > 0
	}
	return n
}

// ModuleOf returns the module of rules in a file, or nil.
func ModuleOf(file []byte) ([]byte, error) {
	r, h := beginning(file)
	if h == nil {
		return nil, nil
	}
	rules, err := r.Rules()
	if err != nil || rules == nil {
		return nil, err
	}
	return rules.Module()
}

func beginning(file []byte) (*replay.Reader, *lockstep.Header) {
	if isBundle(file) {
		b, err := replay.OpenBundle(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return nil, nil
		}
		if file, err = b.Replay(maxBundled); err != nil {
			return nil, nil
		}
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil
	}
	for first, err := range r.All() {
		if err != nil || first.Kind != record.KindHeader {
			break
		}
		h := *first.Header
		return r, &h
	}
	return nil, nil
}

// sumOf returns the sum of the module that a file names, or nil.
func sumOf(r *replay.Reader) *replay.Hash {
	if r == nil {
		return nil
	}
	rules, err := r.Rules()
	if err != nil || rules == nil {
		return nil // Open says what is wrong
	}
	return &rules.Sum
}
