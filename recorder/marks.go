package recorder

// Limits of the phases and draws of a tick.
const (
	maxMark   = 64 // bytes of a name
	maxPhases = 64
	maxDraws  = 64 // streams
)

// marks are the phases and draws of a tick on their way to a note: the items of its text are joined by spaces, and no name has a
// character that JSON escapes.
type marks struct {
	by     int // the player of the notes
	tick   uint32
	text   [maxText]byte
	size   int // of the text; 0 if there is nothing to write
	phases int // of the tick
	draws  int
}

// begin begins a tick, and reports how many phases or streams it may have, and whether there is room for one more.
func (m *marks) begin(tick uint32, sign byte) (most int, ok bool) {
	if tick != m.tick {
		m.tick, m.phases, m.draws = tick, 0, 0
	}
	if sign == '#' {
		return maxDraws, m.draws < maxDraws
	}
	return maxPhases, m.phases < maxPhases
}

// add appends an item, for which there is room.
func (m *marks) add(name string, sign byte, digits []byte) {
	if sign == '#' {
		m.draws++
	} else {
		m.phases++
	}
	b := m.text[:m.size]
	if m.size > 0 {
		b = append(b, ' ')
	}
	m.size = len(append(append(append(b, name...), sign), digits...))
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
