package recorder

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// Limits of a recording. samestep replay refuses more.
const (
	maxTick  = 1<<31 - 1
	maxLines = 1 << 20      // between the header and the end
	maxBytes = 256<<20 - 64 // without the end
)

const (
	bufferBytes = 64 << 10
	lineBytes   = 24 << 10 // more than the longest line after the header
)

// lines are the lines of a recording on their way to a writer.
type lines struct {
	w      io.Writer
	buffer []byte // whole lines
	err    error  // the first one that ends the recording

	leftOut      error // the first phase or draws that could not be recorded
	leftOutCalls int

	players      int
	schema       *node  // of the states; nil if none follow
	tick         uint32 // the latest one of all lines
	ended        bool
	count, bytes int

	every, flushed uint32 // ticks between two writes, and the tick of the latest write

	marks marks
}

// begin reports whether a line of a tick may follow, and makes room for it. Lines that are ordered are not before the latest tick.
func (l *lines) begin(what string, tick uint32, ordered bool) bool {
	l.writeMarks()
	if !l.may(what, tick, ordered) {
		return false
	}
	if tick >= l.flushed && tick-l.flushed >= l.every {
		l.flushed = tick
		l.flush()
	}
	l.room()
	return l.err == nil
}

// may reports whether a line of a tick may follow.
func (l *lines) may(what string, tick uint32, ordered bool) bool {
	switch {
	case l.ended:
		l.fail("%s at tick %d: after the end", what, tick)
	case tick > maxTick:
		l.fail("%s at tick %d: want at most tick %d", what, tick, maxTick)
	case ordered && tick < l.tick:
		l.fail("%s at tick %d: want at least tick %d", what, tick, l.tick)
	case l.count == maxLines && what != "end":
		l.fail("%s at tick %d: want at most %d lines", what, tick, maxLines)
	}
	return l.err == nil
}

// room makes room for a line.
func (l *lines) room() {
	if cap(l.buffer)-len(l.buffer) < lineBytes {
		l.flush()
	}
}

func (l *lines) seated(what string, tick uint32, player int) bool {
	if player < 0 || player >= l.players {
		l.fail("%s at tick %d: got player %d, want 0 to %d", what, tick, player, l.players-1)
	}
	return l.err == nil
}

// open appends the beginning of a line to the buffer, and returns it.
func (l *lines) open(tick uint32, player int) []byte {
	b := strconv.AppendUint(append(l.buffer, `{"t":`...), uint64(tick), 10)
	if player == NoPlayer {
		return b
	}
	return strconv.AppendInt(append(b, `,"p":`...), int64(player), 10)
}

// end ends the line that makes the buffer b, and keeps it unless the recording becomes too long.
func (l *lines) end(what string, tick uint32, b []byte) {
	b = append(b, "}\n"...)
	size := len(b) - len(l.buffer)
	if l.bytes+size > maxBytes && what != "end" {
		l.fail("%s at tick %d: want at most %d bytes", what, tick, maxBytes)
		return
	}
	l.buffer = b
	l.count++
	l.bytes += size
	l.tick = max(l.tick, tick)
}

// mark adds an item to the next note, after it has written the note if that is of another tick or full. An item that a tick may not have
// is left out: what explains a recording does not end it.
func (l *lines) mark(what string, tick uint32, name string, sign byte, digits []byte) {
	m := &l.marks
	if m.size > 0 && tick != m.tick {
		l.writeMarks()
	}
	if !l.may(what, tick, true) {
		return
	}
	if !isMark(name) {
		l.leaveOut("%s at tick %d: got a name of %d bytes, want 1 to %d ASCII letters, digits or ._-/:", what, tick, len(name), maxMark)
		return
	}
	if most, ok := m.begin(tick, sign); !ok {
		l.leaveOut("%s at tick %d: want at most %d in a tick", what, tick, most)
		return
	}
	if m.size > 0 && m.size+1+len(name)+1+len(digits) > len(m.text) {
		if l.writeMarks(); !l.may(what, tick, true) {
			return
		}
	}
	m.add(name, sign, digits)
}

// leaveOut counts a call that is left out, and keeps why the first one is.
func (l *lines) leaveOut(format string, args ...any) {
	if l.leftOut == nil {
		l.leftOut = fmt.Errorf("recorder: "+format, args...)
	}
	l.leftOutCalls++
}

// told returns the error that ends the recording, or else why calls were left out.
func (l *lines) told() error {
	if l.err != nil || l.leftOut == nil {
		return l.err
	}
	return fmt.Errorf("%w; calls left out: %d", l.leftOut, l.leftOutCalls)
}

// writeMarks writes the note of the phases and draws that wait.
func (l *lines) writeMarks() {
	m := &l.marks
	if l.err != nil || m.size == 0 {
		return
	}
	l.room()
	b := append(l.open(m.tick, m.by), `,"note":"phases","text":"`...)
	b = append(append(b, m.text[:m.size]...), '"')
	m.size = 0
	l.end("phases", m.tick, b)
}

func (l *lines) flush() {
	if l.err != nil || len(l.buffer) == 0 {
		return
	}
	n, err := l.w.Write(l.buffer)
	if err == nil && n < len(l.buffer) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.fail("%w", err)
	}
	l.buffer = l.buffer[:0]
}

// fail keeps the first error, which ends the recording.
func (l *lines) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("recorder: "+format, args...)
	}
}

// NoPlayer is the player of a recording by a server, and of a note about the match.
const NoPlayer = -1

// Limits of a header.
const (
	maxPlayers  = 250
	maxRate     = 1000
	maxName     = 128 // bytes
	maxSections = 64
	maxSchema   = 64 << 10 // bytes
)

// A Header describes a match and the machine that records it. Texts are UTF-8, of at most 128 bytes.
type Header struct {
	Title    string  // of the game; at least 1 byte
	TickRate float64 // ticks a second, at most 1,000; six decimals are written
	Players  int     // seats, 1 to 250
	By       int     // the player whose machine records, or NoPlayer for a server

	Match    string   // all recordings of a match have the same, such as its lobby's name and time; may be empty
	Build    string   // of the game; may be empty
	Platform string   // such as "linux/amd64"; may be empty
	Sections []string // the names of the sections whose sums follow, at most 64, all different
	State    string   // the schema of states, see [Schema]; empty if none follow; at most 64 KiB
}

// header writes the first line.
func (l *lines) header(h *Header) {
	l.sized("a title", h.Title, 1, maxName)
	l.sized("a match", h.Match, 0, maxName)
	l.sized("a build", h.Build, 0, maxName)
	l.sized("a platform", h.Platform, 0, maxName)
	l.sized("a schema", h.State, 0, maxSchema)
	micro := microhertz(h.TickRate)
	switch {
	case l.err != nil:
	case micro == 0:
		l.fail("header: want a tick rate above 0, at most %d", maxRate)
	case h.Players < 1 || h.Players > maxPlayers:
		l.fail("header: got %d players, want 1 to %d", h.Players, maxPlayers)
	case h.By < NoPlayer || h.By >= h.Players:
		l.fail("header: got %d as the player that records, want 0 to %d, or -1 for none", h.By, h.Players-1)
	case len(h.Sections) > maxSections:
		l.fail("header: got %d sections, want at most %d", len(h.Sections), maxSections)
	}
	for i, name := range h.Sections {
		l.sized("a section", name, 1, maxName)
		for j := range i {
			if l.err == nil && h.Sections[j] == name {
				l.fail("header: sections %d and %d have the same name", j, i)
			}
		}
	}
	if l.err == nil && h.State != "" {
		var fault int
		if l.schema, fault = parseSchema(h.State); l.schema == nil {
			l.fail("header: the schema is no struct type from byte %d on", fault)
		}
	}
	if l.err != nil {
		return
	}
	l.players, l.marks.by = h.Players, h.By
	b := appendText(append(l.buffer, `{"log":1,"title":`...), h.Title)
	b = strconv.AppendInt(append(b, `,"tick_rate_hz":`...), micro/1e6, 10)
	b = appendDecimals(b, micro%1e6)
	b = strconv.AppendInt(append(b, `,"players":`...), int64(h.Players), 10)
	b = appendField(b, `,"match":`, h.Match)
	if h.By != NoPlayer {
		b = strconv.AppendInt(append(b, `,"by":`...), int64(h.By), 10)
	}
	b = appendField(b, `,"build":`, h.Build)
	b = appendField(b, `,"platform":`, h.Platform)
	for i, name := range h.Sections {
		if i == 0 {
			b = append(b, `,"sections":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendText(b, name)
	}
	if len(h.Sections) > 0 {
		b = append(b, ']')
	}
	b = appendField(b, `,"state":`, h.State)
	l.buffer = append(b, "}\n"...)
	l.bytes = len(l.buffer)
	l.flush()
}

// sized checks a text of the header.
func (l *lines) sized(what, text string, least, most int) {
	if l.err == nil && !valid(text, least, most) {
		l.fail("header: got %s of %d bytes, want %d to %d bytes of UTF-8", what, len(text), least, most)
	}
}

// microhertz returns a tick rate in millionths, or 0 if it is not valid.
func microhertz(rate float64) int64 {
	if !(rate > 0 && rate <= maxRate) {
		return 0
	}
	whole := math.Floor(rate)
	fraction := float64((rate - whole) * 1e6) // rounded before the addition, as in the other languages
	return int64(whole)*1e6 + int64(fraction+0.5)
}

// appendField appends a field of the header, unless it is empty.
func appendField(b []byte, key, text string) []byte {
	if text == "" {
		return b
	}
	return appendText(append(b, key...), text)
}

// appendDecimals appends the fraction of a number with six decimals, without zeros at the end.
func appendDecimals(b []byte, micro int64) []byte {
	if micro == 0 {
		return b
	}
	b = append(b, '.')
	for unit := int64(100_000); micro > 0; unit /= 10 {
		b = append(b, '0'+byte(micro/unit))
		micro %= unit
	}
	return b
}

const hexadecimal = "0123456789abcdef"

// appendHash appends a sum as text.
func appendHash(b []byte, hash uint64) []byte {
	b = append(b, `"0000000000000000"`...)
	for i := len(b) - 2; hash != 0; i-- {
		b[i] = hexadecimal[hash&15]
		hash >>= 4
	}
	return b
}

// appendText appends valid UTF-8 as a text of JSON.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hexadecimal[c>>4], hexadecimal[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// valid reports whether a text is UTF-8 of a size.
func valid(text string, least, most int) bool {
	return len(text) >= least && len(text) <= most && utf8.ValidString(text)
}
