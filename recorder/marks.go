package recorder

import "strconv"

// Limits of the phases and draws of a tick.
const (
	maxMark   = 64 // bytes of a name
	maxPhases = 64 // of a tick
	maxDraws  = 64 // streams of a tick
)

// marks are the phases and draws of a tick on their way to a note: the items of its text are joined by spaces, and no name has a
// character that JSON escapes.
type marks struct {
	by     int // the player of the notes
	tick   uint32
	text   [maxText]byte
	size   int // of the text; 0 if there is nothing to write
	counts [2]int
}

// Phase records a sum of what a phase of the step that leads to the state of a tick has computed, such as the positions after
// "move". Record the phases in their order, before anything of a later tick: the first that differs on two machines is
// where they part. A name has 1 to 64 ASCII letters, digits or ._-/: and may come again. A tick has at most 64 phases.
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

// mark appends an item to the text of the next note, after it has written the text if that is of another tick or full.
func (l *lines) mark(what string, tick uint32, name string, sign byte, digits []byte) {
	m := &l.marks
	if m.size > 0 && (tick != m.tick || m.size+1+len(name)+1+len(digits) > len(m.text)) {
		l.writeMarks()
	}
	if !l.may(what, tick, true) {
		return
	}
	if tick != m.tick {
		m.tick, m.counts = tick, [2]int{}
	}
	of, most := 0, maxPhases
	if sign == '#' {
		of, most = 1, maxDraws
	}
	if !isMark(name) {
		l.writeMarks()
		l.fail("%s at tick %d: got a name of %d bytes, want 1 to %d ASCII letters, digits or ._-/:", what, tick, len(name), maxMark)
		return
	}
	if m.counts[of] == most {
		l.writeMarks()
		l.fail("%s at tick %d: want at most %d in a tick", what, tick, most)
		return
	}
	m.counts[of]++
	b := m.text[:m.size]
	if m.size > 0 {
		b = append(b, ' ')
	}
	b = append(append(append(b, name...), sign), digits...)
	m.size = len(b)
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

// isMark reports whether a phase or a stream may have the name.
func isMark(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '-' && c <= ':', c == '_': // - . / 0 to 9 :
		default:
			return false
		}
	}
	return len(name) >= 1 && len(name) <= maxMark
}
