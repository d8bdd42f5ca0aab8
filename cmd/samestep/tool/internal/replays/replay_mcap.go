//go:build !js

package replays

import (
	"errors"
	"fmt"
	"io"
	"math"

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
