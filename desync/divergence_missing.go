package desync

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
)

// MissingStates are states that nobody has recorded.
type MissingStates struct {
	A    []Span `json:"a"` // ticks of which A lacks the state
	B    []Span `json:"b"`
	Dump string `json:"dump"` // SAMESTEP_DUMP for a recorder
}

// extend adds a tick to ascending spans, if it is one of them.
func extend(spans []Span, t lockstep.Tick, add bool) []Span {
	if last := len(spans) - 1; add && last >= 0 && spans[last].To+1 == t {
		spans[last].To = t
	} else if add {
		spans = append(spans, Span{t, t})
	}
	return spans
}

// ticksText returns "tick 77" or "ticks 50 to 99".
func ticksText(s Span) string {
	if s.Exact() {
		return fmt.Sprintf("tick %d", s.From)
	}
	return fmt.Sprintf("ticks %d to %d", s.From, s.To)
}

// dumpText returns spans as SAMESTEP_DUMP has them: "77,78" and "60-80".
func dumpText(spans []Span) string {
	var parts []string
	for _, s := range spans {
		switch s.To - s.From {
		case 0:
			parts = append(parts, fmt.Sprint(s.From))
		case 1:
			parts = append(parts, fmt.Sprintf("%d,%d", s.From, s.To))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", s.From, s.To))
		}
	}
	return strings.Join(parts, ",")
}

// String says which states are missing, and what to run.
func (m *MissingStates) String() string {
	return fmt.Sprintf("the %s; %s with SAMESTEP_DUMP=%s", m.states(), m.who(), m.Dump)
}

// states says which states are missing.
func (m *MissingStates) states() string {
	switch {
	case len(m.A) == 0:
		return spanText(m.B)
	case len(m.B) > 0 && fmt.Sprint(m.A) != fmt.Sprint(m.B):
		return fmt.Sprintf("%s of A, and the %s of B", spanText(m.A), spanText(m.B))
	}
	return spanText(m.A)
}

// who says which games to run again.
func (m *MissingStates) who() string {
	switch {
	case len(m.A) == 0:
		return "run the game of B again"
	case len(m.B) == 0:
		return "run the game of A again"
	}
	return "run both games again"
}

// spanText returns "state of tick 77", "states of ticks 77 and 78", or "states of ticks 60 to 80 and 90".
func spanText(spans []Span) string {
	var parts []string
	for _, s := range spans {
		switch s.To - s.From {
		case 0:
			parts = append(parts, fmt.Sprint(s.From))
		case 1:
			parts = append(parts, fmt.Sprint(s.From), fmt.Sprint(s.To))
		default:
			parts = append(parts, fmt.Sprintf("%d to %d", s.From, s.To))
		}
	}
	if len(spans) == 1 && spans[0].Exact() {
		return "state of tick " + parts[0]
	}
	return "states of ticks " + words.List(parts)
}
