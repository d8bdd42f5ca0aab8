package recorder

import (
	"fmt"
	"io"
	"strconv"
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
	err    error  // the first one

	players      int
	shape        shape  // of the states
	tick         uint32 // the latest one of all lines
	ended        bool
	count, bytes int

	every, flushed uint32 // ticks between two writes, and the tick of the latest write
}

// begin reports whether a line of a tick may follow, and makes room for it. Lines that are ordered are not before the latest tick.
func (l *lines) begin(what string, tick uint32, ordered bool) bool {
	switch {
	case l.err != nil:
		return false
	case l.ended:
		l.fail("%s at tick %d: after the end", what, tick)
		return false
	case tick > maxTick:
		l.fail("%s at tick %d: want at most tick %d", what, tick, maxTick)
		return false
	case ordered && tick < l.tick:
		l.fail("%s at tick %d: want at least tick %d", what, tick, l.tick)
		return false
	case l.count == maxLines && what != "end":
		l.fail("%s at tick %d: want at most %d lines", what, tick, maxLines)
		return false
	}
	if tick >= l.flushed && tick-l.flushed >= l.every {
		l.flushed = tick
		l.flush()
	} else if cap(l.buffer)-len(l.buffer) < lineBytes {
		l.flush()
	}
	return l.err == nil
}

// seated reports whether the match has a player.
func (l *lines) seated(what string, tick uint32, player int) bool {
	if player < 0 || player >= l.players {
		l.fail("%s at tick %d: got player %d, want 0 to %d", what, tick, player, l.players-1)
		return false
	}
	return true
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

// flush writes the buffered lines.
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

// fail keeps the first error.
func (l *lines) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("recorder: "+format, args...)
	}
}
