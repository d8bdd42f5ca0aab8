//go:build !js

package replays

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// McapFields are the fields of states that become channels.
type McapFields struct {
	Paths    []string                 // as --path has them
	MaxTicks lockstep.Tick            // to simulate, see --max-ticks
	Warn     func(match, text string) // tells what the values lack
	found    map[string]bool          // the paths that a state had
	states   bool                     // there was a state
}

// maxMCAPFields is how many fields one recording may have as channels.
const maxMCAPFields = 256

// missing returns an error if a path is in no state.
func (f *McapFields) missing() error {
	for _, path := range f.Paths {
		if !f.found[path] && !f.states {
			return console.Usagef("--path %s: there are no states; a recorder writes those of the ticks in SAMESTEP_DUMP", path)
		}
		if !f.found[path] {
			return console.Usagef("--path %s: %v in any state", path, state.ErrPath)
		}
	}
	return nil
}

// mcapStates writes the fields of one recording's states. With the game's code it simulates the match; without it, the
// file has the states of keyframes, and a recording of another engine those that it has. It writes a value when it changes, and the one before at the tick before, so that
// lines between the points are the values.
type mcapStates struct {
	x        *McapExporter
	match    McapMatch
	fields   *McapFields
	schema   *state.Schema
	follower *lockstep.Follower // nil without the game, and after a contradiction
	first    lockstep.Tick      // of the simulation
	agreed   lockstep.Tick      // the last tick that was compared
	channels map[string]*mcapField
	buffer   []byte

	lines  matchlog.Lines // of a recording of another engine
	player uint8          // whose states these are, if there is a channel
}

// An mcapField is a field that has a channel.
type mcapField struct {
	channel int
	node    state.Node
	last    []byte        // the canonical bytes of its value
	seen    lockstep.Tick // the last tick that had this value
	written int64         // the tick of the last message, -1 before it
}

type (
	mcapNumber struct {
		Tick  lockstep.Tick `json:"tick"`
		Value float64       `json:"value"`
		Text  string        `json:"text"`
	}
	mcapText struct {
		Tick lockstep.Tick `json:"tick"`
		Text string        `json:"text"`
	}
)

const (
	mcapTextProperties   = `"tick":{"type":"integer"},"text":{"type":"string"}`
	mcapNumberProperties = `"tick":{"type":"integer"},"value":{"type":"number","description":"rounded to 53 bits"},"text":{"type":"string","description":"the exact value"}`
)

func newMCAPStates(x *McapExporter, match McapMatch, fields *McapFields) *mcapStates {
	if fields.found == nil {
		fields.found = make(map[string]bool)
	}
	return &mcapStates{x: x, match: match, fields: fields, channels: make(map[string]*mcapField)}
}

// record takes each record of the replay.
func (s *mcapStates) record(r *record.Record) error {
	switch r.Kind {
	case record.KindHeader:
		return s.begin(r)
	case record.KindForeign:
		return s.foreign(r)
	}
	simulated := s.follower != nil && s.follower.Simulation() != nil
	if simulated && r.Ticks() > 0 {
		return s.simulate(r)
	}
	if s.follower != nil && (r.Kind == record.KindKeyframe || r.Kind == record.KindChecksum) {
		if err := s.compare(r, simulated); err != nil {
			return err
		}
	}
	if r.Kind == record.KindKeyframe && (!simulated || s.follower == nil) {
		return s.sample(r.Tick, r.Keyframe.State)
	}
	return nil
}

func (s *mcapStates) begin(r *record.Record) error {
	if r.Header.Engine == replay.ForeignEngine {
		return nil // its own header follows
	}
	var err error
	if s.schema, err = state.ParseSchema(r.Header.StateSchema); err != nil {
		return err
	}
	g, err := s.x.games.Of(r.Header)
	if err != nil {
		s.warn("only the states of keyframes have values, because the match cannot be simulated: %v", err)
		return nil
	}
	s.follower = g.NewFollower(lockstep.FollowerOptions{})
	return s.follower.Apply(r)
}

// foreign takes a line of a recording of another engine. If it has states of several players, those of the first one count.
func (s *mcapStates) foreign(r *record.Record) error {
	e, err := s.lines.Next(r.Line)
	if err != nil {
		return matchlines.ForeignError(r, err)
	}
	if e == nil {
		s.schema = s.lines.Header.Schema
		return nil
	}
	if !e.Dump || e.More || len(s.channels) > 0 && e.Player != s.player {
		return nil
	}
	s.player = e.Player
	return s.sample(lockstep.Tick(e.Tick), e.State)
}

// simulate runs the ticks of a record.
func (s *mcapStates) simulate(r *record.Record) error {
	for frame := r.FrameAfter(s.follower.Tick()); frame != nil; frame = r.FrameAfter(s.follower.Tick()) {
		if err := s.match.CheckTicks(s.follower.Tick()+1-s.first, s.fields.MaxTicks); err != nil {
			return err
		}
		if err := s.follower.Advance(frame); err != nil {
			return s.contradicted(err)
		}
		s.buffer = s.follower.Simulation().AppendState(s.buffer[:0])
		if err := s.sample(s.follower.Tick(), s.buffer); err != nil {
			return err
		}
	}
	return nil
}

// compare begins the simulation at a keyframe, or compares it with a checksum or a keyframe.
func (s *mcapStates) compare(r *record.Record, simulated bool) error {
	before := s.follower.Checked()
	if err := s.follower.Apply(r); err != nil {
		return s.contradicted(err)
	}
	if !simulated {
		s.first = r.Tick
	}
	if !simulated || s.follower.Checked() > before {
		s.agreed = max(s.agreed, r.Tick)
	}
	return nil
}

// contradicted ends the simulation if the file shows that it is not the match that was recorded.
func (s *mcapStates) contradicted(err error) error {
	if !errors.As(err, new(*lockstep.DesyncError)) && !errors.As(err, new(*lockstep.PanicError)) {
		return err
	}
	s.warn("after tick %d the values may not be those of the recording, and after tick %d only the states of keyframes have values: %v", s.agreed, s.follower.Tick(), err)
	s.follower = nil
	return nil
}

// warn tells what the values lack, on standard error and in the viewer's log.
func (s *mcapStates) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.fields.Warn(s.match.Name, text)
	if s.x.Header != nil {
		s.x.log(3, "state", text)
	}
}

// sample writes the fields of a state.
func (s *mcapStates) sample(t lockstep.Tick, bytes []byte) error {
	if s.schema == nil {
		return nil // the keyframe of a match of another engine is empty
	}
	s.fields.states = true
	for _, path := range s.fields.Paths {
		whole, err := s.schema.Lookup(bytes, path)
		if errors.Is(err, state.ErrPath) {
			continue // it may come, such as a unit
		}
		if err != nil {
			return err
		}
		leaves, err := s.schema.LeavesAt(bytes, path)
		if err != nil {
			return err
		}
		s.fields.found[path] = true
		for v := range leaves {
			if err := s.value(t, path+strings.TrimPrefix(v.Path, whole.Path), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// value takes the value that a field has after a tick.
func (s *mcapStates) value(t lockstep.Tick, path string, v state.Value) error {
	f := s.channels[path]
	switch {
	case f == nil && len(s.channels) == maxMCAPFields:
		return console.Usagef("--path: more than %d fields; name single ones, such as Units[17].Pos.X", maxMCAPFields)
	case f == nil:
		f = s.add(path, v.Node)
	case bytes.Equal(f.last, v.Bytes) && f.seen+1 == t:
		f.seen = t
		return nil
	default:
		s.write(f, f.seen)
	}
	f.last, f.seen = append(f.last[:0], v.Bytes...), t
	s.write(f, t)
	return nil
}

// add adds the channel of a field.
func (s *mcapStates) add(path string, n state.Node) *mcapField {
	f := &mcapField{node: n, written: -1}
	topic := "/state/" + topicOf(path) + s.x.suffix
	if n.Kind() == state.String {
		f.channel = s.x.File.channel(topic, "samestep.Text", mcapTextProperties)
	} else {
		f.channel = s.x.File.channel(topic, "samestep.Number", mcapNumberProperties)
	}
	s.channels[path] = f
	return f
}

// topicOf returns a path as a part of a topic, in letters that viewers take without quotes: Units[ID=7].HP is Units/ID_7/HP.
func topicOf(path string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ']':
			return -1
		case r == '.' || r == '[':
			return '/'
		case r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			return r
		}
		return '_'
	}, path)
}

// write writes the last value of a field at a tick, once.
func (s *mcapStates) write(f *mcapField, t lockstep.Tick) {
	if f.written == int64(t) {
		return
	}
	f.written = int64(t)
	text := state.Value{Node: f.node, Bytes: f.last}.String()
	switch f.node.Kind() {
	case state.String:
		s.x.File.write(f.channel, s.x.time(t), mcapText{t, text})
		return
	case state.Bool:
		number := mcapNumber{t, 0, text}
		if text == "true" {
			number.Value = 1
		}
		s.x.File.write(f.channel, s.x.time(t), number)
		return
	}
	if value, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(value) && !math.IsInf(value, 0) {
		s.x.File.write(f.channel, s.x.time(t), mcapNumber{t, value, text})
	}
}

// end writes the last tick of each field.
func (s *mcapStates) end() {
	for _, path := range slices.Sorted(maps.Keys(s.channels)) {
		f := s.channels[path]
		s.write(f, f.seen)
	}
}
