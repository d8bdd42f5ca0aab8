//go:build !js

package replays

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// An McapExporter writes a replay as MCAP, the format of Foxglove and other viewers, with messages in JSON and their
// schemas, so that numbers can be plotted. The times are those of the ticks at the match's tick rate; a pause takes none.
type McapExporter struct {
	File     *mcapFile
	suffix   string // of its topics, if the file has several recordings
	games    replay.Games
	Channels [len(mcapChannels)]int
	Header   *lockstep.Header
	states   *mcapStates // nil if no field is asked for
	describe *lockstep.Describer
	kinds    map[lockstep.Kind]string
	names    map[string]string
	Tick     lockstep.Tick

	rates      mcapRates
	second     uint64     // that rates covers
	mismatches mismatches // of the whole match
}

// The channels.
const (
	onCommands = iota
	OnRates
	onChecksums
	onMismatches
	onLog
)

// An mcapChannel is a topic and the JSON schema of its messages.
type mcapChannel struct{ topic, schema, properties string }

var mcapChannels = [...]mcapChannel{
	onCommands: {"/commands", "samestep.Command", `"tick":{"type":"integer"},"player":{"type":"integer","description":"255 is the system"},` +
		`"sequence":{"type":"integer"},"kind":{"type":"integer"},"name":{"type":"string"},"size_bytes":{"type":"integer"},"text":{"type":"string"}`},
	OnRates: {"/rates", "samestep.Rates", `"tick":{"type":"integer"},"commands":{"type":"integer","description":"in the second that ends here"},` +
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

// An McapMatch is a recording that becomes MCAP.
type McapMatch struct {
	*replay.Reader
	Name   string // of its file
	Bundle bool   // of a desync, whose replay needs no end
	Games  replay.Games
}

// ExportMCAP writes whole matches to w, and fields of their states.
func ExportMCAP(w io.Writer, matches []McapMatch, fields McapFields) error {
	file, err := NewMCAPFile(w)
	if err != nil {
		return err
	}
	for i, m := range matches {
		x := &McapExporter{File: file, games: m.Games, kinds: make(map[lockstep.Kind]string), names: make(map[string]string)}
		if len(matches) > 1 {
			x.suffix = "/" + string(rune('a'+i))
		}
		if len(fields.Paths) > 0 {
			x.states = newMCAPStates(x, m, &fields)
		}
		err := x.export(m.Reader)
		if m.Bundle && errors.Is(err, io.ErrUnexpectedEOF) && x.Header != nil {
			fields.Warn(m.Name, fmt.Sprintf("the replay is cut after tick %d: there the messages end", x.Tick))
			err = x.end()
		}
		if err != nil {
			return gameset.OfFile(m.Name, err)
		}
	}
	if err := fields.missing(); err != nil {
		return err
	}
	return file.close()
}

// export writes a match.
func (x *McapExporter) export(r *replay.Reader) error {
	var err error
	if x.mismatches, err = readMismatches(r); err != nil {
		return err
	}
	x.WriteChannels()
	if err := replay.Play(r, nil, x.record); err != nil {
		return err
	}
	return x.end()
}

// WriteChannels writes the channels of the file.
func (x *McapExporter) WriteChannels() {
	for i, c := range mcapChannels {
		x.Channels[i] = x.File.channel(c.topic+x.suffix, c.schema, c.properties)
	}
}

func (x *McapExporter) record(r *record.Record) error {
	if r.Ticks() > 0 {
		x.Tick = r.Tick
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
		if x.Tick == 0 {
			x.Tick, x.second = r.Tick, uint64(r.Tick)/uint64(x.Header.Settings.TickRate())
		}
		x.log(2, "keyframe", fmt.Sprintf("%s %s", checksum.FormatHash(r.Keyframe.Hash), console.Size(len(r.Keyframe.State))))
	case record.KindChecksum:
		x.check(r)
	case record.KindMismatch:
		hash := checksum.FormatHash(r.Hash)
		x.log(3, "desync", fmt.Sprintf("player %d has %s at tick %d", r.Player, hash, r.Tick))
		x.write(onMismatches, x.time(x.Tick), mcapMismatch{r.Tick, r.Player, hash})
	case record.KindNote:
		if r.Topic == record.TopicName {
			x.names[fmt.Sprintf("player %d", r.Player)] = r.Text
		}
		x.log(2, r.Topic, fmt.Sprintf("player %d: %s", r.Player, r.Text))
	case record.KindEvent:
		x.log(2, r.Event, fmt.Sprintf("player %d: %s", r.Player, r.Text))
	case record.KindEnd:
		x.log(2, "end", r.Text)
	}
	return x.File.Err
}

func (x *McapExporter) begin(h *lockstep.Header) error {
	x.Header = h
	x.rates.Players = make([]int, h.Settings.Players)
	for _, c := range h.Commands {
		x.kinds[c.Kind] = c.Name
	}
	g, _ := x.games.Of(h) // without a game, schemas describe the commands
	var err error
	x.describe, err = lockstep.NewDescriber(h, g)
	return err
}

// frame writes a tick's commands, if it has any.
func (x *McapExporter) frame(f *lockstep.Frame) {
	x.Rate()
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

// Rate writes the rates of the seconds that are over. Of several empty seconds it writes the first and the last, which
// are enough to plot a line.
func (x *McapExporter) Rate() {
	second := (uint64(x.Tick) - 1) / uint64(x.Header.Settings.TickRate())
	for second > x.second {
		x.writeRates()
		if x.second++; second > x.second+1 {
			x.writeRates()
			x.second = second - 1
		}
	}
}

func (x *McapExporter) writeRates() {
	x.rates.Tick = lockstep.Tick(min((x.second+1)*uint64(x.Header.Settings.TickRate()), math.MaxUint32))
	x.write(OnRates, x.time(x.rates.Tick), &x.rates)
	clear(x.rates.Players)
	x.rates = mcapRates{Players: x.rates.Players}
}

// check writes an agreed checksum, and the number of players that differ, including those whose mismatches come later.
func (x *McapExporter) check(r *record.Record) {
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

// log writes a line for the viewer's log.
func (x *McapExporter) log(level int, name, text string) {
	at := x.time(x.Tick)
	x.write(onLog, at, mcapLog{mcapTime{at / 1e9, at % 1e9}, level, text, name, "tick", uint32(x.Tick)})
}

// time returns the nanoseconds from the beginning to a tick.
func (x *McapExporter) time(t lockstep.Tick) uint64 {
	return uint64(x.Header.Settings.Micros(int64(t))) * 1000
}

// write writes a message to one of the channels.
func (x *McapExporter) write(channel int, at uint64, v any) { x.File.write(x.Channels[channel], at, v) }

// end writes the last rates and values, and the metadata of the match.
func (x *McapExporter) end() error {
	x.writeRates()
	if x.states != nil {
		x.states.end()
	}
	h := x.Header
	seed := fmt.Sprint(h.Settings.Seed)
	if h.Engine == replay.ForeignEngine {
		seed = "unknown"
	}
	x.File.metadata("match"+x.suffix, map[string]string{
		"game": h.Game, "build": h.Build, "engine": h.Engine, "match": h.Match.String(), "platform": h.Platform,
		"seed": seed, "players": fmt.Sprint(h.Settings.Players), "tick_rate": fmt.Sprint(h.Settings.TickRate()), "ticks": fmt.Sprint(x.Tick),
	})
	x.File.metadata("names"+x.suffix, x.names)
	return x.File.Err
}

// An mcapFile is the MCAP that is written. Its first error stays.
type mcapFile struct {
	w        *mcap.Writer
	schemas  map[string]uint16 // the number of each, by name
	Sequence []uint32          // of the last message of each channel
	Err      error
}

// NewMCAPFile begins a file.
func NewMCAPFile(w io.Writer) (*mcapFile, error) {
	const chunk = 1 << 20
	compressor, err := zstd.NewWriter(nil, zstd.WithWindowSize(chunk), zstd.WithEncoderConcurrency(1)) // each chunk on its own: a larger window only takes memory
	if err != nil {
		return nil, err
	}
	custom := mcap.NewCustomCompressor(mcap.CompressionZSTD, compressor)
	writer, err := mcap.NewWriter(w, &mcap.WriterOptions{Chunked: true, ChunkSize: chunk, Compressor: custom, IncludeCRC: true})
	if err != nil {
		return nil, err
	}
	return &mcapFile{w: writer, schemas: make(map[string]uint16)}, writer.WriteHeader(&mcap.Header{Library: "samestep"})
}

// channel adds a channel for messages with the properties of a JSON schema, and returns its number for write. Equal names
// of schemas have equal properties.
func (f *mcapFile) channel(topic, name, properties string) int {
	id, ok := f.schemas[name]
	if !ok {
		id = uint16(len(f.schemas) + 1)
		f.schemas[name] = id
		schema := `{"type":"object","properties":{` + properties + `}}`
		f.keep(f.w.WriteSchema(&mcap.Schema{ID: id, Name: name, Encoding: "jsonschema", Data: []byte(schema)}))
	}
	f.Sequence = append(f.Sequence, 0)
	f.keep(f.w.WriteChannel(&mcap.Channel{ID: uint16(len(f.Sequence)), SchemaID: id, Topic: topic, MessageEncoding: "json"}))
	return len(f.Sequence) - 1
}

// write writes a message.
func (f *mcapFile) write(channel int, at uint64, v any) {
	if f.Err != nil {
		return
	}
	data, err := json.Marshal(v)
	if f.keep(err); err == nil {
		f.Sequence[channel]++
		f.keep(f.w.WriteMessage(&mcap.Message{ChannelID: uint16(channel + 1), Sequence: f.Sequence[channel], LogTime: at, PublishTime: at, Data: data}))
	}
}

func (f *mcapFile) metadata(name string, values map[string]string) {
	f.keep(f.w.WriteMetadata(&mcap.Metadata{Name: name, Metadata: values}))
}

func (f *mcapFile) keep(err error) {
	if f.Err == nil {
		f.Err = err
	}
}

func (f *mcapFile) close() error { return errors.Join(f.Err, f.w.Close()) }

// The mismatches of a match are the checksums of players that differ from the agreed ones. In the log of a live match
// they stand ticks after these, so they are read ahead. A map would take four times the memory of the slice.
type mismatches []mismatch

// A mismatch is the checksum that a player reported of a tick.
type mismatch struct {
	hash   uint64
	tick   lockstep.Tick
	player lockstep.Player
	taken  bool
}

const maxMismatches = 1 << 19 // that are kept

// readMismatches returns the mismatches of a replay, and then seeks to the beginning.
func readMismatches(r *replay.Reader) (mismatches, error) {
	var all mismatches
	if err := replay.Play(r, nil, all.add); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // a cut replay has them up to there
		return nil, err
	}
	all.order()
	_, err := r.Seek(0)
	return all, err
}

// add adds a record, if it is a mismatch.
func (d *mismatches) add(r *record.Record) error {
	if r.Kind != record.KindMismatch {
		return nil
	}
	if len(*d) == maxMismatches {
		return fmt.Errorf("%w: more than %d checksums that differ", replay.ErrLimit, maxMismatches)
	}
	*d = append(*d, mismatch{hash: r.Hash, tick: r.Tick, player: r.Player})
	return nil
}

// order sorts the mismatches by tick and player after all were added. Of several for the same tick and player, it keeps
// the last one.
func (d *mismatches) order() {
	slices.Reverse(*d)
	slices.SortStableFunc(*d, compareMismatches)
	*d = slices.CompactFunc(*d, func(a, b mismatch) bool { return compareMismatches(a, b) == 0 })
}

func compareMismatches(a, b mismatch) int {
	return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.player, b.player))
}

// of returns the mismatches of a tick by player.
func (d mismatches) of(t lockstep.Tick) mismatches {
	from, _ := slices.BinarySearchFunc(d, t, func(m mismatch, t lockstep.Tick) int { return cmp.Compare(m.tick, t) })
	to := from
	for to < len(d) && d[to].tick == t {
		to++
	}
	return d[from:to]
}

// take returns the mismatch of a player at a tick, once.
func (d mismatches) take(t lockstep.Tick, p lockstep.Player) (hash uint64, ok bool) {
	i, found := slices.BinarySearchFunc(d, mismatch{tick: t, player: p}, compareMismatches)
	if !found || d[i].taken {
		return 0, false
	}
	d[i].taken = true
	return d[i].hash, true
}
