package recorder

import (
	"math"
	"strconv"
)

// NoPlayer is the player of a recording by a server, and of a note about the match.
const NoPlayer = -1

// Limits of a headel.
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
		if l.shape, fault = parseShape(h.State); fault >= 0 {
			l.fail("header: the schema is no struct type from byte %d on", fault)
		}
	}
	if l.err != nil {
		return
	}
	l.players = h.Players
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

// sized checks a text of the headel.
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
