package matchlog

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of the phases and draws of a tick on one machine.
const (
	maxPhaseName = 64 // bytes
	maxPhases    = 64 // of a tick; further ones do not count
	maxStreams   = 64 // of draws, of a tick; further ones do not count
)

// TopicPhases is the topic of a note with phases and draws of the step that leads to the state of its tick.
const TopicPhases = "phases"

// A Phase is what a machine says of a step: the sum of a phase, or how many numbers were drawn from a stream.
type Phase struct {
	Name  string // of the phase or the stream
	Draws bool
	Value uint64 // the sum, or the count
}

// Text returns the sum in hexadecimal digits, or the count.
func (p Phase) Text() string {
	if p.Draws {
		return strconv.FormatUint(p.Value, 10)
	}
	return fmt.Sprintf("%016x", p.Value)
}

// Phases are those of one tick on a machine, in their order.
type Phases struct {
	List []Phase

	counts [2]int // phases and streams
}

// Reset begins another tick.
func (p *Phases) Reset() { p.List, p.counts = p.List[:0], [2]int{} }

// Add adds those of a note's text: NAME=SUM and NAME#COUNT, with a space between two. It reports whether the text is one; else it adds
// nothing. It passes over what is beyond the limits.
func (p *Phases) Add(text string) bool {
	for item := range strings.SplitSeq(text, " ") {
		if _, ok := parsePhase(item); !ok {
			return false
		}
	}
	for item := range strings.SplitSeq(text, " ") {
		one, _ := parsePhase(item)
		of, most := 0, maxPhases
		if one.Draws {
			of, most = 1, maxStreams
		}
		if p.counts[of] < most {
			p.counts[of]++
			p.List = append(p.List, one)
		}
	}
	return true
}

func parsePhase(item string) (p Phase, ok bool) {
	at := strings.IndexAny(item, "=#")
	if at < 1 || at > maxPhaseName {
		return p, false
	}
	for i := range at {
		switch c := item[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '-' && c <= ':', c == '_': // - . / 0 to 9 :
		default:
			return p, false
		}
	}
	value, base := item[at+1:], 16
	if p.Draws = item[at] == '#'; p.Draws {
		base = 10
	}
	n, err := strconv.ParseUint(value, base, 64)
	switch {
	case err != nil:
		return p, false
	case p.Draws:
		ok = value[0] != '0' || value == "0"
	default:
		ok = len(value) == 16 && strings.ToLower(value) == value
	}
	p.Name, p.Value = item[:at], n
	return p, ok
}
