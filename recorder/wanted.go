package recorder

import (
	"math"
	"strconv"
	"strings"
)

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
