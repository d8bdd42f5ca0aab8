// Package recorder writes what one machine sees of a match on any engine: commands, sums of states, whole states and notes, as
// lines of JSON that samestep replay reads (docs/spec/recordings.md). Recordings of several machines are compared to find the first
// tick and the first field that differ.
//
//	r, err := recorder.Create("player0.jsonl", recorder.Header{
//		Title: "Pong", TickRate: 60, Players: 2, By: 0,
//		Sections: []string{"Ball", "Paddles"},
//		State:    schema, // see Schema
//	})
//	…
//	r.Command(tick, player, kind, payload) // changes the state of this tick into that of the next
//	step()
//	r.Phase(tick+1, "bounce", ballHash) // optional, for each phase of the step, in order
//	r.Draws(tick+1, "serve", draws)     // optional, for each stream of random numbers
//	r.Sum(tick+1, 0, hash, ballHash, paddlesHash)
//	if r.Wanted(tick + 1) { // SAMESTEP_DUMP=77,78
//		r.State(tick+1, 0, bytes) // see Schema
//	}
//	// or, with a Schema: r.Observe(tick+1, 0, schema, &world)
//	…
//	r.End(tick)
//	err = r.Close()
//
// A game that rolls back records a tick once all its commands are known.
//
// Each call appends whole lines to a buffer. The buffer is written when the ticks advance ([Recorder.FlushEvery]), after
// a state, and when it is full, so a game that crashes loses only the latest ticks. The first error stays: all later calls do
// nothing, and [Recorder.Err] and [Recorder.Close] return it. Only a phase or draws too many, or with a wrong name, are left out and
// counted: the recording goes on, and these errors tell of them unless another one follows. A call of a tick does not allocate.
//
// The package imports only the standard library, so that a game on another engine links nothing else of ours. The folders
// c and python have the same recorder in these languages. The same calls write the same bytes, and fail with the same errors.
package recorder

import (
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
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

	sections int
	seats    []seat

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
		r.sections, r.seats = len(h.Sections), make([]seat, h.Players)
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
	case r.commands == maxCommands:
		r.lines.fail("command at tick %d: want at most %d commands in a tick", tick, maxCommands)
	case r.payloads+len(payload) > maxPayloads:
		r.lines.fail("command at tick %d: want at most %d bytes of payloads in a tick", tick, maxPayloads)
	case *word&bit == 0 && r.kindCount == maxKinds:
		r.lines.fail("command at tick %d: want at most %d kinds", tick, maxKinds)
	case *word&bit == 0:
		*word |= bit
		r.kindCount++
	}
	if r.lines.err != nil {
		return
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
	case len(sections) != 0 && len(sections) != r.sections:
		r.lines.fail("sum at tick %d: got %d sections, want %d", tick, len(sections), r.sections)
	case r.sums+len(sections) > maxSums:
		r.lines.fail("sum at tick %d: want at most %d sums of sections", tick, maxSums)
	}
	if r.lines.err != nil {
		return
	}
	r.sums += len(sections)
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
	case !valid(text, 0, maxText):
		r.lines.fail("note at tick %d: got a text of %d bytes, want 0 to %d bytes of UTF-8", tick, len(text), maxText)
	}
	if r.lines.err != nil {
		return
	}
	b := appendText(append(r.lines.open(tick, player), `,"note":`...), topic)
	r.lines.end("note", tick, appendText(append(b, `,"text":`...), text))
}

// Phase records a sum of what a phase of the step that leads to the state of a tick has computed, such as the positions after
// "move". Record the phases in their order, before anything of a later tick: the first that differs on two machines is
// where they part. A name has 1 to 64 ASCII letters, digits or ._-/: and may come again. A tick has at most 64 phases. Others are left
// out, and [Recorder.Err] says so.
func (r *Recorder) Phase(tick uint32, name string, sum uint64) {
	var digits [16]byte
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = hexadecimal[sum&15]
		sum >>= 4
	}
	r.lines.mark("phase", tick, name, '=', digits[:])
}

// Draws records how many numbers the step that leads to the state of a tick has drawn from a stream of random numbers. The name is
// one as of [Recorder.Phase]. A tick has at most 64 streams.
func (r *Recorder) Draws(tick uint32, stream string, count uint64) {
	var digits [20]byte
	r.lines.mark("draws", tick, stream, '#', strconv.AppendUint(digits[:0], count, 10))
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
	case r.lines.schema == nil:
		r.lines.fail("state at tick %d: the header has no schema", tick)
	case tick < least:
		r.lines.fail("state at tick %d: want at least tick %d", tick, least)
	case r.states == maxStates:
		r.lines.fail("state at tick %d: want at most %d states", tick, maxStates)
	case len(state) > maxState:
		r.lines.fail("state at tick %d: want at most %d bytes in a state", tick, maxState)
	}
	if r.lines.err != nil {
		return false
	}
	switch want, _ := r.lines.schema.measure(state, 0); {
	case want > int64(len(state)) && r.lines.schema.varies:
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
func (r *Recorder) Flush() {
	r.lines.writeMarks()
	r.lines.flush()
}

// Err returns the first error.
func (r *Recorder) Err() error { return r.lines.told() }

// Close writes the buffered lines, closes the file of [Create], and returns the first error.
func (r *Recorder) Close() error {
	if l := &r.lines; l.err != nil && len(l.buffer) > 0 { // what was right before a wrong call
		_, _ = l.w.Write(l.buffer)
		l.buffer = l.buffer[:0]
	}
	r.Flush()
	r.lines.ended = true
	if r.file != nil {
		if err := r.file.Close(); err != nil {
			r.lines.fail("%w", err)
		}
		r.file = nil
	}
	return r.lines.told()
}

// Observe records a state as a player has it: the FNV-1a sums of its bytes and of each of its fields, and the state itself if it is
// wanted. v is a pointer to the struct of the schema, whose [Schema.Fields] are the header's sections. It allocates nothing.
func (r *Recorder) Observe(tick uint32, player uint8, s *Schema, v any) {
	if r.lines.err != nil {
		return
	}
	const start, prime = 0xcbf29ce484222325, 0x100000001b3
	all := uint64(start)
	r.observed, r.sectionSums = r.observed[:0], r.sectionSums[:0]
	for i := range s.root.fields {
		from, section := len(r.observed), uint64(start)
		r.observed = s.AppendField(r.observed, v, i)
		for _, c := range r.observed[from:] {
			all, section = (all^uint64(c))*prime, (section^uint64(c))*prime
		}
		r.sectionSums = append(r.sectionSums, section)
	}
	r.Sum(tick, player, all, r.sectionSums...)
	if r.Wanted(tick) {
		r.State(tick, player, r.observed)
	}
}

const maxSpans = 64

// A span is a range of ticks.
type span struct{ first, last uint32 }

// spans are the ticks whose states are wanted.
type spans []span

// add adds the ticks of a text such as 77,78 or 70-80, and reports whether it is one.
func (w *spans) add(ticks string) bool {
	if ticks == "" {
		return true
	}
	for text := range strings.SplitSeq(ticks, ",") {
		first, last, isSpan := strings.Cut(text, "-")
		if !isSpan {
			last = first
		}
		s := span{parseTick(first), parseTick(last)}
		if s.first > s.last || s.last > maxTick || len(*w) == maxSpans {
			return false
		}
		*w = append(*w, s)
	}
	return true
}

func (w spans) has(tick uint32) bool {
	for _, s := range w {
		if s.first <= tick && tick <= s.last {
			return true
		}
	}
	return false
}

// parseTick returns a tick, or more than the largest.
func parseTick(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return math.MaxUint32
	}
	return uint32(n)
}
