package recordings

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A PhaseDifference is the first phase of a step, in its order, whose sums differ, or the first stream of random numbers of which a step
// drew more on one side. Only what both sides have is compared.
type PhaseDifference struct {
	Tick lockstep.Tick `json:"tick"` // of the state to which the step leads
	Name string        `json:"name"` // of the phase or the stream
	A    string        `json:"a"`    // the sum in 16 hexadecimal digits, or the count
	B    string        `json:"b"`

	// Lone is a phase or stream before it that only one side has, or "". It may be the first one that differs.
	Lone string `json:"lone,omitempty"`
}

// Traces are what two sides have of the phases and draws of steps.
type Traces struct {
	Phase *PhaseDifference `json:"phase"` // the first that differs, after the last tick with equal states; nil if none is known
	Draws *PhaseDifference `json:"draws"`

	Ticks int `json:"ticks"` // of which both sides have phases or draws, up to the first state that differs

	of    [2][2]int // phases and streams at the first tick whose states differ: that both have, and the others
	sides [2]*Recording
}

// A phaseReader goes through the phases and draws of a recording, tick by tick.
type phaseReader struct {
	of    *Recording
	in    *replay.Reader
	until lockstep.Tick // only earlier ticks count
	tick  lockstep.Tick // of all
	all   matchlog.Phases
	ahead string // the text of the next tick's first note
	next  lockstep.Tick
	done  bool
}

// advance goes to the next tick, and reports whether there is one. A recording that is damaged ends there.
func (p *phaseReader) advance() (bool, error) {
	p.all.Reset()
	if p.ahead != "" {
		p.tick = p.next
		p.all.Add(p.ahead)
		p.ahead = ""
	}
	for !p.done {
		rec, err := p.in.Next()
		if err != nil {
			p.done = true
			if errors.Is(err, io.EOF) || errors.As(err, new(*replay.DamageError)) {
				break
			}
			return false, err
		}
		switch {
		case !p.of.ofMachine(rec):
		case rec.Tick >= p.until:
			p.done = true
		case len(p.all.List) > 0 && rec.Tick != p.tick:
			p.ahead, p.next = rec.Text, rec.Tick
			if probe := (matchlog.Phases{}); probe.Add(p.ahead) {
				return true, nil
			}
			p.ahead = "" // a note of another form
		default:
			p.tick = rec.Tick
			p.all.Add(rec.Text)
		}
	}
	return len(p.all.List) > 0, nil
}

// firstDifference compares the phases or the draws of a tick: the first one with a name, the second one, and so on. It returns how many
// both have, and how many only one side.
func firstDifference(t lockstep.Tick, a, b []matchlog.Phase, draws bool) (first *PhaseDifference, both, lone int) {
	taken := make([]bool, len(b))
	missing := ""
	for _, x := range a {
		if x.Draws != draws {
			continue
		}
		at := -1
		for j, y := range b {
			if !taken[j] && y.Draws == draws && y.Name == x.Name {
				at = j
				break
			}
		}
		if at < 0 {
			lone++
			if missing == "" {
				missing = x.Name
			}
			continue
		}
		for j := range at { // that B has before it
			if y := b[j]; missing == "" && !taken[j] && y.Draws == draws && !slices.ContainsFunc(a, func(x matchlog.Phase) bool { return x.Draws == draws && x.Name == y.Name }) {
				missing = y.Name
			}
		}
		taken[at] = true
		both++
		if y := b[at]; first == nil && x.Value != y.Value {
			first = &PhaseDifference{Tick: t, Name: x.Name, A: x.Text(), B: y.Text(), Lone: missing}
		}
	}
	for j, y := range b {
		if y.Draws == draws && !taken[j] {
			lone++
		}
	}
	return first, both, lone
}

// what names a phase or the draws of a stream.
func (p *PhaseDifference) what(draws bool) string {
	if draws {
		return "the draws of " + p.Name
	}
	return "the sums of phase " + p.Name
}

// lines say which phase and which draws differ first, a name and a text each. They are empty if neither side has any. The tick is that of
// the first states that differ, if any do.
func (tr *Traces) lines(differs bool, tick lockstep.Tick) (lines [][2]string) {
	if tr == nil {
		return nil
	}
	for i, found := range []*PhaseDifference{tr.Phase, tr.Draws} {
		name, one, has := "phase", "phase", [2]bool{}
		if i == 1 {
			name, one = "draws", "stream"
		}
		for k, r := range tr.sides {
			has[k] = r != nil && []int{r.Phases, r.Draws}[i] > 0
		}
		switch {
		case !has[0] && !has[1]:
		case found != nil:
			text := fmt.Sprintf("%s at tick %d, the first %s that differs: %s in A, %s in B", found.Name, found.Tick, one, found.A, found.B)
			if found.Lone != "" {
				text += fmt.Sprintf("; before it, only one side has %s", found.Lone)
			}
			lines = append(lines, [2]string{name, text})
		case !has[0] || !has[1]:
			side := "A"
			if has[0] {
				side = "B"
			}
			lines = append(lines, [2]string{name, fmt.Sprintf("unknown: %s has recorded no %s", side, one)})
		case differs && tr.of[i] == [2]int{}:
			lines = append(lines, [2]string{name, fmt.Sprintf("unknown: one side has no %s of tick %d", one, tick)})
		case differs && tr.of[i][0] == 0:
			lines = append(lines, [2]string{name, fmt.Sprintf("unknown: there is no %s of tick %d that both have", one, tick)})
		case differs:
			text := fmt.Sprintf("none: %s of tick %d that both have", words.Plural(tr.of[i][0], one, "is equal, the only one", "are equal, all"), tick)
			if n := tr.of[i][1]; n > 0 {
				text += fmt.Sprintf("; only one side has %s", words.Count(n, "more "+one))
			}
			lines = append(lines, [2]string{name, text})
		}
	}
	return lines
}

// in says in which phase, or with which draws, the states parted, for a title.
func (tr *Traces) in() string {
	switch name := tr.name(); {
	case name == "":
		return ""
	case tr.Phase != nil && name == tr.Phase.Name:
		return " in phase " + name
	default:
		return " with other " + name
	}
}

// name names the first phase that differs, or else the draws; "" for none.
func (tr *Traces) name() string {
	switch {
	case tr == nil:
	case tr.Phase != nil && (tr.Draws == nil || tr.Phase.Tick <= tr.Draws.Tick):
		return tr.Phase.Name
	case tr.Draws != nil:
		return "draws of " + tr.Draws.Name
	}
	return ""
}

// latest returns the tick of the first phase or draws that differ, and whether there are any.
func (tr *Traces) latest() (t lockstep.Tick, ok bool) {
	if tr == nil {
		return 0, false
	}
	t = math.MaxUint32
	for _, p := range []*PhaseDifference{tr.Phase, tr.Draws} {
		if p != nil {
			t, ok = min(t, p.Tick), true
		}
	}
	return t, ok
}
