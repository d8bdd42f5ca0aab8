package recorder

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"
)

// Variable is the environment variable that says of which ticks a recorder should write the states: SAMESTEP_DUMP=77,78 or
// SAMESTEP_DUMP=70-80.
const Variable = "SAMESTEP_DUMP"

// Limits of the lines. samestep replay refuses more.
const (
	maxPayload  = 16_380
	maxCommands = 8192    // of a tick
	maxPayloads = 4 << 20 // bytes of a tick
	maxKinds    = 4096
	maxSums     = 5 << 19 // of sections
	maxStates   = 1 << 16
	maxState    = 8 << 20 // bytes
	maxTopic    = 128
	maxText     = 1024
)

const (
	flushTicks = 60
	chunkBytes = 12 << 10 // of a state in one line; divisible by 3, so that only the last line has padding
)

// A Recorder writes a recording. It is not safe for concurrent use.
type Recorder struct {
	lines lines
	file  *os.File // that Create opened, or nil

	sections  int
	hasStates bool
	seats     []seat

	commandTick        uint32
	commands, payloads int // of that tick
	kinds              [1 << 16 / 64]uint64
	kindCount          int
	sums               int // of sections
	states             int

	wanted spans

	observed    []byte   // the latest state of Observe
	sectionSums []uint64 // of that
}

// A seat is what a recorder keeps of a player.
type seat struct {
	sequence    uint32
	sums, dumps uint32 // the least tick of the next sum and of the next state
}

// New starts a recording, and writes its header. It also reads the ticks of [Recorder.Want] from the environment variable
// SAMESTEP_DUMP.
func New(w io.Writer, h Header) *Recorder {
	r := &Recorder{lines: lines{w: w, buffer: make([]byte, 0, bufferBytes), every: flushTicks}}
	if r.lines.header(&h); r.lines.err == nil {
		r.sections, r.hasStates, r.seats = len(h.Sections), h.State != "", make([]seat, h.Players)
	}
	r.Want(os.Getenv(Variable))
	return r
}

// Create does the same with a new file, or empties an old one. [Recorder.Close] closes it.
func Create(path string, h Header) (*Recorder, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("recorder: %w", err)
	}
	r := New(file, h)
	r.file = file
	if r.lines.err != nil {
		return nil, r.Close()
	}
	return r, nil
}

// FlushEvery sets after how many ticks the buffered lines are written. The default is 60; 1 loses at most the tick in which
// the game crashes, at the cost of a system call in each tick.
func (r *Recorder) FlushEvery(ticks uint32) { r.lines.every = max(ticks, 1) }

// Command records that a command of a player changes the state of a tick into that of the next. The recorder counts each
// player's commands. The payload has at most 16,380 bytes.
func (r *Recorder) Command(tick uint32, player uint8, kind uint16, payload []byte) {
	if !r.lines.begin("command", tick, true) || !r.lines.seated("command", tick, int(player)) {
		return
	}
	if tick != r.commandTick {
		r.commandTick, r.commands, r.payloads = tick, 0, 0
	}
	word, bit := &r.kinds[kind/64], uint64(1)<<(kind%64)
	switch {
	case len(payload) > maxPayload:
		r.lines.fail("command at tick %d: got a payload of %d bytes, want at most %d", tick, len(payload), maxPayload)
		return
	case r.commands == maxCommands:
		r.lines.fail("command at tick %d: want at most %d commands in a tick", tick, maxCommands)
		return
	case r.payloads+len(payload) > maxPayloads:
		r.lines.fail("command at tick %d: want at most %d bytes of payloads in a tick", tick, maxPayloads)
		return
	case *word&bit == 0:
		if r.kindCount == maxKinds {
			r.lines.fail("command at tick %d: want at most %d kinds", tick, maxKinds)
			return
		}
		*word |= bit
		r.kindCount++
	}
	r.commands++
	r.payloads += len(payload)
	s := &r.seats[player]
	s.sequence++
	b := r.lines.open(tick, int(player))
	b = strconv.AppendUint(append(b, `,"s":`...), uint64(s.sequence), 10)
	b = strconv.AppendUint(append(b, `,"k":`...), uint64(kind), 10)
	b = base64.StdEncoding.AppendEncode(append(b, `,"d":"`...), payload)
	r.lines.end("command", tick, append(b, '"'))
}

// Sum records the checksum of the state of a tick, as a player computed it. sections has the sums of the header's sections,
// or nothing. A tick may be older than the latest one, but not than that player's latest sum.
func (r *Recorder) Sum(tick uint32, player uint8, sum uint64, sections ...uint64) {
	if !r.lines.begin("sum", tick, false) || !r.lines.seated("sum", tick, int(player)) {
		return
	}
	s := &r.seats[player]
	switch {
	case tick < s.sums:
		r.lines.fail("sum at tick %d: want at least tick %d", tick, s.sums)
		return
	case len(sections) != 0 && len(sections) != r.sections:
		r.lines.fail("sum at tick %d: got %d sections, want %d", tick, len(sections), r.sections)
		return
	}
	if r.sums += len(sections); r.sums > maxSums {
		r.lines.fail("sum at tick %d: want at most %d sums of sections", tick, maxSums)
		return
	}
	s.sums = tick + 1
	b := appendHash(append(r.lines.open(tick, int(player)), `,"sum":`...), sum)
	for i, hash := range sections {
		if i == 0 {
			b = append(b, `,"sections":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendHash(b, hash)
	}
	if len(sections) > 0 {
		b = append(b, ']')
	}
	r.lines.end("sum", tick, b)
}

// Note records something about a player, or with [NoPlayer] about the match, after a tick: the topics "name", "chat" and "map",
// or a topic of your own with a dot, such as "com.example.version". A topic has 1 to 128 bytes, a text at most 1,024.
func (r *Recorder) Note(tick uint32, player int, topic, text string) {
	if !r.lines.begin("note", tick, true) || player != NoPlayer && !r.lines.seated("note", tick, player) {
		return
	}
	switch {
	case !valid(topic, 1, maxTopic):
		r.lines.fail("note at tick %d: got a topic of %d bytes, want 1 to %d bytes of UTF-8", tick, len(topic), maxTopic)
		return
	case !valid(text, 0, maxText):
		r.lines.fail("note at tick %d: got a text of %d bytes, want 0 to %d bytes of UTF-8", tick, len(text), maxText)
		return
	}
	b := appendText(append(r.lines.open(tick, player), `,"note":`...), topic)
	r.lines.end("note", tick, appendText(append(b, `,"text":`...), text))
}

// Want adds ticks whose states are wanted, such as "77,78" or "70-80", for games that have no environment.
func (r *Recorder) Want(ticks string) {
	if !r.wanted.add(ticks) {
		r.wanted = nil
		r.lines.fail("%s: want at most %d ticks or ranges, such as 77,78 or 70-80", Variable, maxSpans)
	}
}

// Wanted reports whether the state of a tick should be recorded.
func (r *Recorder) Wanted(tick uint32) bool { return r.wanted.has(tick) && r.lines.err == nil }

// State records the whole state of a tick, as a player has it: canonical bytes of the header's schema, as [Schema.Append] makes
// them, at most 8 MiB. Its size must be what the schema and the counts in it say. State writes the buffered lines. A tick may be
// older than the latest one, but not than that player's latest state.
func (r *Recorder) State(tick uint32, player uint8, state []byte) {
	if !r.fits(tick, player, state) {
		return
	}
	for more := true; more; {
		part := state[:min(len(state), chunkBytes)]
		state = state[len(part):]
		more = len(state) > 0
		if r.statePart(tick, player, part, more); r.lines.err != nil {
			return
		}
	}
	r.seats[player].dumps = tick + 1
	r.states++
	r.lines.flush()
}

// fits reports whether a state may follow, and has the size that the schema says.
func (r *Recorder) fits(tick uint32, player uint8, state []byte) bool {
	if !r.lines.begin("state", tick, false) || !r.lines.seated("state", tick, int(player)) {
		return false
	}
	switch least := r.seats[player].dumps; {
	case !r.hasStates:
		r.lines.fail("state at tick %d: the header has no schema", tick)
		return false
	case tick < least:
		r.lines.fail("state at tick %d: want at least tick %d", tick, least)
		return false
	case r.states == maxStates:
		r.lines.fail("state at tick %d: want at most %d states", tick, maxStates)
		return false
	case len(state) > maxState:
		r.lines.fail("state at tick %d: want at most %d bytes in a state", tick, maxState)
		return false
	}
	s := r.lines.shape
	switch want := s.measure(state, 0, 0, len(s)); {
	case want > int64(len(state)) && !s.fixed():
		r.lines.fail("state at tick %d: got %d bytes, want at least %d", tick, len(state), want)
	case want != int64(len(state)):
		r.lines.fail("state at tick %d: got %d bytes, want %d", tick, len(state), want)
	}
	return r.lines.err == nil
}

// statePart records a part of a state, which the next line continues if there is more.
func (r *Recorder) statePart(tick uint32, player uint8, part []byte, more bool) {
	if !r.lines.begin("state", tick, false) {
		return
	}
	b := append(r.lines.open(tick, int(player)), `,"state":"`...)
	b = append(base64.StdEncoding.AppendEncode(b, part), '"')
	if more {
		b = append(b, `,"more":true`...)
	}
	r.lines.end("state", tick, b)
}

// End records the last tick that was played. Nothing may follow but Close. A recording without an end counts as torn: it
// can be used up to its last line.
func (r *Recorder) End(tick uint32) {
	if !r.lines.begin("end", tick, true) {
		return
	}
	r.lines.ended = true
	r.lines.end("end", tick, append(r.lines.open(tick, NoPlayer), `,"end":true`...))
	r.Flush()
}

// Flush writes the buffered lines. A handler of crashes may call it.
func (r *Recorder) Flush() { r.lines.flush() }

// Err returns the first error.
func (r *Recorder) Err() error { return r.lines.err }

// Close writes the buffered lines, closes the file of [Create], and returns the first error.
func (r *Recorder) Close() error {
	if l := &r.lines; l.err != nil && len(l.buffer) > 0 { // what was right before a wrong call
		_, _ = l.w.Write(l.buffer)
		l.buffer = l.buffer[:0]
	}
	r.lines.flush()
	r.lines.ended = true
	if r.file != nil {
		if err := r.file.Close(); err != nil {
			r.lines.fail("%w", err)
		}
		r.file = nil
	}
	return r.lines.err
}
