//go:build !js

package replays

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// An mcapExporter writes a replay as MCAP, the format of Foxglove and other viewers, with messages in JSON and their
// schemas, so that numbers can be plotted. The times are those of the ticks at the match's tick rate; a pause takes none.
type mcapExporter struct {
	file     *mcapFile
	suffix   string // of its topics, if the file has several recordings
	games    replay.Games
	channels [len(mcapChannels)]int
	header   *lockstep.Header
	states   *mcapStates // nil if no field is asked for
	describe *lockstep.Describer
	kinds    map[lockstep.Kind]string
	names    map[string]string
	tick     lockstep.Tick

	rates      mcapRates
	second     uint64     // that rates covers
	mismatches mismatches // of the whole match
}

const (
	onCommands = iota
	onRates
	onChecksums
	onMismatches
	onLog
)

// An mcapChannel is a topic and the JSON schema of its messages.
type mcapChannel struct{ topic, schema, properties string }

var mcapChannels = [...]mcapChannel{
	onCommands: {"/commands", "samestep.Command", `"tick":{"type":"integer"},"player":{"type":"integer","description":"255 is the system"},` +
		`"sequence":{"type":"integer"},"kind":{"type":"integer"},"name":{"type":"string"},"size_bytes":{"type":"integer"},"text":{"type":"string"}`},
	onRates: {"/rates", "samestep.Rates", `"tick":{"type":"integer"},"commands":{"type":"integer","description":"in the second that ends here"},` +
		`"frames":{"type":"integer","description":"ticks with commands"},"size_bytes":{"type":"integer","description":"of payloads"},` +
		`"players":{"type":"array","description":"commands by seat","items":{"type":"integer"}}`},
	onChecksums: {"/checksums", "samestep.Checksum", `"tick":{"type":"integer"},"state_hash":{"type":"string"},"agreed":{"type":"integer","description":"1 if nobody differed"},` +
		`"mismatches":{"type":"integer","description":"players who differed"},"values":{"type":"integer","description":"different checksums"}`},
	onMismatches: {"/mismatches", "samestep.Mismatch", `"tick":{"type":"integer"},"player":{"type":"integer"},"state_hash":{"type":"string"}`},
	onLog: {"/log", "foxglove.Log", `"timestamp":{"type":"object","title":"time","properties":{"sec":{"type":"integer"},"nsec":{"type":"integer"}}},` +
		`"level":{"type":"integer"},"message":{"type":"string"},"name":{"type":"string"},"file":{"type":"string"},"line":{"type":"integer"}`},
}

type (
	mcapCommand struct {
		Tick      lockstep.Tick     `json:"tick"`
		Player    lockstep.Player   `json:"player"`
		Sequence  lockstep.Sequence `json:"sequence"`
		Kind      lockstep.Kind     `json:"kind"`
		Name      string            `json:"name"`
		SizeBytes int               `json:"size_bytes"`
		Text      string            `json:"text"`
	}
	mcapRates struct {
		Tick      lockstep.Tick `json:"tick"`
		Commands  int           `json:"commands"`
		Frames    int           `json:"frames"`
		SizeBytes int           `json:"size_bytes"`
		Players   []int         `json:"players"`
	}
	mcapSum struct {
		Tick       lockstep.Tick `json:"tick"`
		Hash       string        `json:"state_hash"`
		Agreed     int           `json:"agreed"`
		Mismatches int           `json:"mismatches"`
		Values     int           `json:"values"`
	}
	mcapMismatch struct {
		Tick   lockstep.Tick   `json:"tick"`
		Player lockstep.Player `json:"player"`
		Hash   string          `json:"state_hash"`
	}
	mcapTime struct {
		Seconds     uint64 `json:"sec"`
		Nanoseconds uint64 `json:"nsec"`
	}
	mcapLog struct {
		Timestamp mcapTime `json:"timestamp"`
		Level     int      `json:"level"` // 2: info, 3: warning
		Message   string   `json:"message"`
		Name      string   `json:"name"`
		File      string   `json:"file"`
		Line      uint32   `json:"line"`
	}
)

// An mcapMatch is a recording that becomes MCAP.
type mcapMatch struct {
	*replay.Reader
	Name   string // of its file
	Bundle bool   // of a desync, whose replay needs no end
	Games  replay.Games
}

// writeMCAP writes whole matches to w, and fields of their states.
func writeMCAP(w io.Writer, matches []mcapMatch, fields mcapFields) error {
	file, err := newMCAPFile(w)
	if err != nil {
		return err
	}
	fields.found = make(map[string]bool)
	for i, m := range matches {
		x := &mcapExporter{file: file, games: m.Games, kinds: make(map[lockstep.Kind]string), names: make(map[string]string)}
		if len(matches) > 1 {
			x.suffix = "/" + string(rune('a'+i))
		}
		if len(fields.Paths) > 0 {
			x.states = &mcapStates{x: x, match: m, fields: &fields, channels: make(map[string]*mcapField)}
		}
		err := x.export(m.Reader)
		if m.Bundle && errors.Is(err, io.ErrUnexpectedEOF) && x.header != nil {
			fields.Warn(m.Name, fmt.Sprintf("the replay is cut after tick %d: there the messages end", x.tick))
			err = x.end()
		}
		if err != nil {
			return gameset.OfFile(m.Name, err)
		}
	}
	if err := fields.missing(); err != nil {
		return err
	}
	return errors.Join(file.err, file.w.Close())
}

func (x *mcapExporter) export(r *replay.Reader) error {
	var err error
	if x.mismatches, err = readMismatches(r); err != nil {
		return err
	}
	x.writeChannels()
	if err := replay.Play(r, nil, x.record); err != nil {
		return err
	}
	return x.end()
}

// writeChannels writes the channels of the file.
func (x *mcapExporter) writeChannels() {
	for i, c := range mcapChannels {
		x.channels[i] = x.file.channel(c.topic+x.suffix, c.schema, c.properties)
	}
}

func (x *mcapExporter) record(r *record.Record) error {
	if r.Ticks() > 0 {
		x.tick = r.Tick
		x.frame(&r.Frame)
	}
	if x.states != nil {
		if err := x.states.record(r); err != nil {
			return err
		}
	}
	switch r.Kind {
	case record.KindHeader:
		return x.begin(r.Header)
	case record.KindKeyframe:
		if x.tick == 0 {
			x.tick, x.second = r.Tick, uint64(r.Tick)/uint64(x.header.Settings.TickRate())
		}
		x.log(2, "keyframe", fmt.Sprintf("%s %s", checksum.FormatHash(r.Keyframe.Hash), console.Size(len(r.Keyframe.State))))
	case record.KindChecksum:
		x.check(r)
	case record.KindMismatch:
		hash := checksum.FormatHash(r.Hash)
		x.log(3, "desync", fmt.Sprintf("%s has %s at tick %d", r.Player.Name(), hash, r.Tick))
		x.write(onMismatches, x.time(x.tick), mcapMismatch{r.Tick, r.Player, hash})
	case record.KindNote:
		if r.Topic == record.TopicName {
			x.names[r.Player.Name()] = r.Text
		}
		x.log(2, r.Topic, r.Player.Name()+": "+r.Text)
	case record.KindEvent:
		x.log(2, r.Event, r.Player.Name()+": "+r.Text)
	case record.KindEnd:
		x.log(2, "end", r.Text)
	}
	return x.file.err
}

func (x *mcapExporter) begin(h *lockstep.Header) error {
	x.header = h
	x.rates.Players = make([]int, h.Settings.Players)
	for _, c := range h.Commands {
		x.kinds[c.Kind] = c.Name
	}
	g, _ := x.games.Of(h) // without a game, schemas describe the commands
	var err error
	x.describe, err = lockstep.NewDescriber(h, g)
	return err
}

func (x *mcapExporter) frame(f *lockstep.Frame) {
	x.rate()
	if len(f.Commands) == 0 {
		return
	}
	x.rates.Frames++
	for i := range f.Commands {
		c := &f.Commands[i]
		x.rates.Commands++
		x.rates.SizeBytes += len(c.Payload)
		name := "system"
		if c.Player != lockstep.System {
			name = x.kinds[c.Kind]
		}
		if int(c.Player) < len(x.rates.Players) {
			x.rates.Players[c.Player]++
		}
		x.write(onCommands, x.time(c.Tick), mcapCommand{c.Tick, c.Player, c.Sequence, c.Kind, name, len(c.Payload), x.describe.Describe(c)})
	}
}

// rate writes the rates of the seconds that are over; of several empty ones the first and the last, enough to plot a line.
func (x *mcapExporter) rate() {
	second := (uint64(x.tick) - 1) / uint64(x.header.Settings.TickRate())
	for second > x.second {
		x.writeRates()
		if x.second++; second > x.second+1 {
			x.writeRates()
			x.second = second - 1
		}
	}
}

func (x *mcapExporter) writeRates() {
	x.rates.Tick = lockstep.Tick(min((x.second+1)*uint64(x.header.Settings.TickRate()), math.MaxUint32))
	x.write(onRates, x.time(x.rates.Tick), &x.rates)
	clear(x.rates.Players)
	x.rates = mcapRates{Players: x.rates.Players}
}

// check writes an agreed checksum, and the number of players that differ, including those whose mismatches come later.
func (x *mcapExporter) check(r *record.Record) {
	sum := mcapSum{Tick: r.Tick, Hash: checksum.FormatHash(r.Hash)}
	different := map[uint64]bool{r.Hash: true}
	for _, d := range x.mismatches.of(r.Tick) {
		sum.Mismatches++
		different[d.hash] = true
	}
	sum.Values = len(different)
	if sum.Mismatches == 0 {
		sum.Agreed = 1
	}
	x.write(onChecksums, x.time(r.Tick), &sum)
}

func (x *mcapExporter) log(level int, name, text string) {
	at := x.time(x.tick)
	x.write(onLog, at, mcapLog{mcapTime{at / 1e9, at % 1e9}, level, text, name, "tick", uint32(x.tick)})
}

func (x *mcapExporter) time(t lockstep.Tick) uint64 {
	return uint64(x.header.Settings.Micros(int64(t))) * 1000
}

func (x *mcapExporter) write(channel int, at uint64, v any) { x.file.write(x.channels[channel], at, v) }

// end writes the last rates and values, and the metadata of the match.
func (x *mcapExporter) end() error {
	x.writeRates()
	if s := x.states; s != nil {
		for _, path := range slices.Sorted(maps.Keys(s.channels)) {
			s.write(s.channels[path], s.channels[path].seen)
		}
	}
	h := x.header
	seed := fmt.Sprint(h.Settings.Seed)
	if h.Engine == replay.ForeignEngine {
		seed = "unknown"
	}
	x.file.keep(x.file.w.Metadata("match"+x.suffix, map[string]string{
		"game": h.Game, "build": h.Build, "engine": h.Engine, "match": h.Match.String(), "platform": h.Platform,
		"seed": seed, "players": fmt.Sprint(h.Settings.Players), "tick_rate": fmt.Sprint(h.Settings.TickRate()), "ticks": fmt.Sprint(x.tick),
	}))
	x.file.keep(x.file.w.Metadata("names"+x.suffix, x.names))
	return x.file.err
}

// An mcapFile is the MCAP that is written. Its first error stays.
type mcapFile struct {
	w        parts.MCAPFile
	schemas  map[string]uint16 // the number of each, by name
	sequence []uint32          // of the last message of each channel
	err      error
}

// newMCAPFile begins a file.
func newMCAPFile(w io.Writer) (*mcapFile, error) {
	if parts.MCAP == nil {
		return nil, parts.Missing("--to mcap", "mcap")
	}
	file, err := parts.MCAP(w)
	return &mcapFile{w: file, schemas: make(map[string]uint16)}, err
}

// channel adds a channel of a JSON schema, and returns its number for write. Schemas of one name have the same properties.
func (f *mcapFile) channel(topic, name, properties string) int {
	id, ok := f.schemas[name]
	if !ok {
		id = uint16(len(f.schemas) + 1)
		f.schemas[name] = id
		schema := `{"type":"object","properties":{` + properties + `}}`
		f.keep(f.w.Schema(id, name, []byte(schema)))
	}
	f.sequence = append(f.sequence, 0)
	f.keep(f.w.Channel(uint16(len(f.sequence)), id, topic))
	return len(f.sequence) - 1
}

func (f *mcapFile) write(channel int, at uint64, v any) {
	if f.err != nil {
		return
	}
	data, err := json.Marshal(v)
	if f.keep(err); err == nil {
		f.sequence[channel]++
		f.keep(f.w.Message(uint16(channel+1), f.sequence[channel], at, data))
	}
}

func (f *mcapFile) keep(err error) {
	if f.err == nil {
		f.err = err
	}
}

// mcapFields are the fields of states that become channels.
type mcapFields struct {
	Paths    []string                 // as --path has them
	MaxTicks lockstep.Tick            // to simulate, see --max-ticks
	Warn     func(match, text string) // tells what the values lack
	found    map[string]bool          // the paths that a state had
	states   bool                     // there was a state
}

func (f *mcapFields) missing() error {
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
	x        *mcapExporter
	match    mcapMatch
	fields   *mcapFields
	schema   *state.Schema
	follower *lockstep.Follower // nil without the game, and after a contradiction
	first    lockstep.Tick      // of the simulation
	agreed   lockstep.Tick      // the last tick that was compared
	channels map[string]*mcapField
	buffer   []byte

	lines  matchlog.Lines // of a recording of another engine
	player uint8          // whose states these are, if there is a channel
}

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

func (s *mcapStates) contradicted(err error) error {
	if !errors.As(err, new(*lockstep.DesyncError)) && !errors.As(err, new(*lockstep.PanicError)) {
		return err
	}
	s.warn("after tick %d the values may not be those of the recording, and after tick %d only the states of keyframes have values: %v", s.agreed, s.follower.Tick(), err)
	s.follower = nil
	return nil
}

func (s *mcapStates) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.fields.Warn(s.match.Name, text)
	if s.x.header != nil {
		s.x.log(3, "state", text)
	}
}

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

func (s *mcapStates) value(t lockstep.Tick, path string, v state.Value) error {
	const most = 256 // fields of one recording
	f := s.channels[path]
	switch {
	case f == nil && len(s.channels) == most:
		return console.Usagef("--path: more than %d fields; name single ones, such as Units[17].Pos.X", most)
	case f == nil:
		topic := "/state/" + topicOf(path) + s.x.suffix
		f = &mcapField{node: v.Node, written: -1}
		if v.Node.Kind() == state.String {
			f.channel = s.x.file.channel(topic, "samestep.Text", mcapTextProperties)
		} else {
			f.channel = s.x.file.channel(topic, "samestep.Number", mcapNumberProperties)
		}
		s.channels[path] = f
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
	value, err := strconv.ParseFloat(text, 64)
	switch kind := f.node.Kind(); {
	case kind == state.String:
		s.x.file.write(f.channel, s.x.time(t), mcapText{t, text})
	case kind == state.Bool:
		s.x.file.write(f.channel, s.x.time(t), mcapNumber{t, map[string]float64{"true": 1}[text], text})
	case err == nil && !math.IsNaN(value) && !math.IsInf(value, 0):
		s.x.file.write(f.channel, s.x.time(t), mcapNumber{t, value, text})
	}
}
