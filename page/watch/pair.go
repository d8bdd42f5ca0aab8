package watch

import (
	"errors"
	"fmt"
	"hash/fnv"
	"sort"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// ErrPair is returned for two replays that cannot be compared.
var ErrPair = errors.New("watch: the replays cannot be compared")

// Limits of a comparison.
const (
	maxTurns      = 1 << 16 // ticks at which other elements differ
	listedTurns   = 200     // of them, in a Comparison
	keyedFields   = 4000    // fields whose elements make the key of a tick
	listedDiffers = 200     // fields in a Comparison
)

type pair struct {
	other    *Viewer
	note     string
	same     lockstep.Tick  // the states up to here are known to be equal
	commands *lockstep.Tick // the first tick whose commands differ

	seen  bool            // ticks up to scanned were compared
	upTo  lockstep.Tick   // the last of them
	key   uint64          // of the elements that differ in it; 0 for none
	turns []lockstep.Tick // the ticks at which other elements differ than in the tick before

	search  int           // 1 forward, -1 back, 0 for no search
	from    lockstep.Tick // where it began
	missing bool          // the last search found nothing

	fields state.Differences // of the states at tick
	tick   lockstep.Tick
	known  bool // fields are
}

// A Comparison describes how two replays differ at the present tick.
type Comparison struct {
	Note      string             `json:"note"`               // what a reader must know of the second one, or ""
	Commands  *lockstep.Tick     `json:"commands,omitempty"` // the first tick whose commands differ
	Turns     []lockstep.Tick    `json:"turns"`              // the first ticks, as far as known, at which other elements differ than in the tick before
	Searching bool               `json:"searching"`
	None      bool               `json:"none"` // the last search has found nothing
	Fields    []state.Difference `json:"fields"`
	Total     int                `json:"total"` // of the fields that differ
}

// Compare lets another viewer of the same game and first tick go along with v, up to the end of the shorter one. The error wraps [ErrPair].
func (v *Viewer) Compare(other *Viewer) error {
	switch {
	case v.game == nil || other.game == nil:
		return fmt.Errorf("%w: one of them is a recording of another engine", ErrPair)
	case v.game != other.game:
		return fmt.Errorf("%w: they are of different games", ErrPair)
	case differ(sumOf(v.reader), sumOf(other.reader)):
		return fmt.Errorf("%w: they name different modules of rules", ErrPair)
	case v.First() != other.First():
		return fmt.Errorf("%w: they begin at ticks %d and %d", ErrPair, v.First(), other.First())
	}
	v.last = min(v.last, other.last)
	other.last = v.last
	v.pair = &pair{other: other, same: v.logsAgree(other)}
	if t, ok := v.commandsDiffer(other); ok {
		v.pair.commands = &t
	}
	v.kept.limit, other.kept.limit = keepBytes/2, keepBytes/2
	v.Seek(v.target)
	return nil
}

func differ(a, b *replay.Hash) bool { return a != nil && b != nil && *a != *b }

// logsAgree returns the last tick before the first check that differs, at which both logs have the same checksum.
func (v *Viewer) logsAgree(other *Viewer) lockstep.Tick {
	at := v.First()
	if a, _ := v.checkAt(at); len(other.checks) == 0 || a != other.checks[0].hash {
		return at
	}
	for _, c := range v.checks {
		hash, ok := other.checkAt(c.tick)
		if ok && hash != c.hash || c.tick > v.last {
			break
		}
		if ok {
			at = max(at, c.tick)
		}
	}
	return at
}

// Other returns the viewer that goes along, or nil.
func (v *Viewer) Other() *Viewer {
	if v.pair == nil {
		return nil
	}
	return v.pair.other
}

// Differences lists up to a limit of the fields in which the two states differ, and counts all. It is empty while one of them is behind.
func (v *Viewer) Differences(limit int) state.Differences {
	p := v.pair
	if p == nil || p.other.Tick() != v.Tick() {
		return state.Differences{}
	}
	if !p.known || p.tick != v.Tick() {
		p.fields, p.tick, p.known = v.differ(), v.Tick(), true
	}
	d := p.fields
	d.List = d.List[:min(len(d.List), limit)]
	return d
}

func (v *Viewer) differ() (d state.Differences) {
	if v.now.Hash() == v.pair.other.now.Hash() {
		return d
	}
	schema, a, b := v.game.StateSchema(), v.now.AppendState(nil), v.pair.other.now.AppendState(nil)
	d, err := schema.Diff(a, b, keyedFields)
	if err != nil {
		return state.Differences{} // cannot happen: a simulation's own bytes are canonical
	}
	d.Rename(schema.Names(a, b))
	return d
}

// elementsOf returns a key of the elements that differ, such as Units[ID=7]; 0 for none.
func elementsOf(d state.Differences) uint64 {
	if d.Total == 0 {
		return 0
	}
	h, last := fnv.New64a(), ""
	for _, f := range d.List {
		element := f.Path
		if i := strings.IndexByte(element, ']'); i >= 0 {
			element = element[:i+1]
		}
		if element != last {
			h.Write([]byte(element))
			last = element
		}
	}
	return max(h.Sum64(), 1)
}

// Find begins to look for the next, or previous, tick at which other elements differ than before. [Viewer.Work] goes there, if there is one.
func (v *Viewer) Find(back bool) {
	p := v.pair
	if p == nil {
		return
	}
	p.search, p.from, p.missing = 1, v.target, false
	if back {
		p.search = -1
	}
}

// look continues a search by some ticks. It reports whether the search is over: then the target is its result.
func (v *Viewer) look(ticks int) bool {
	p := v.pair
	for ; ; ticks-- {
		if at, ok := p.found(v.last); ok {
			p.missing = at == p.from
			p.search = 0
			v.Seek(at)
			return true
		}
		if ticks <= 0 {
			return false
		}
		next := p.upTo + 1
		if !p.seen {
			next = p.same
		}
		if !v.reach(next, ticks) {
			return false
		}
		if v.fault != nil || p.other.fault != nil { // nothing beyond can be compared
			p.missing, p.search = true, 0
			v.Seek(p.from)
			return true
		}
		key := elementsOf(v.Differences(keyedFields))
		if key != p.key && len(p.turns) < maxTurns {
			p.turns = append(p.turns, next)
		}
		p.key, p.upTo, p.seen = key, next, true
	}
}

// found returns the result of the search if the compared ticks tell it; the tick where it began if there is none.
func (p *pair) found(last lockstep.Tick) (lockstep.Tick, bool) {
	i := sort.Search(len(p.turns), func(i int) bool { return p.turns[i] > p.from })
	switch all := p.seen && p.upTo >= last; {
	case p.search > 0 && i < len(p.turns):
		return p.turns[i], true
	case p.search > 0:
		return p.from, all || len(p.turns) == maxTurns
	case !(p.seen && p.upTo >= p.from) && !all && p.from > p.same:
		return 0, false
	}
	i = sort.Search(len(p.turns), func(i int) bool { return p.turns[i] >= p.from })
	if i == 0 {
		return p.from, true
	}
	return p.turns[i-1], true
}

// reach brings both viewers to a tick, and reports whether they are there, or cannot go on.
func (v *Viewer) reach(t lockstep.Tick, ticks int) bool {
	v.target, v.pair.other.target = t, t
	arrived := v.advance(ticks)
	return v.pair.other.advance(ticks) && arrived
}

// Comparison describes the comparison at the present tick, or returns nil without another viewer.
func (v *Viewer) Comparison() *Comparison {
	p := v.pair
	if p == nil {
		return nil
	}
	d := v.Differences(listedDiffers)
	c := &Comparison{Note: p.note, Commands: p.commands, Turns: append([]lockstep.Tick{}, p.turns[:min(len(p.turns), listedTurns)]...), Searching: p.search != 0, None: p.missing,
		Fields: append([]state.Difference{}, d.List...), Total: d.Total}
	return c
}

func (v *Viewer) commandsDiffer(other *Viewer) (lockstep.Tick, bool) {
	n, same := 0, func(a, b *lockstep.Command) bool {
		return a.Tick == b.Tick && a.Player == b.Player && a.Kind == b.Kind && string(a.Payload) == string(b.Payload)
	}
	for n < min(len(v.commands), len(other.commands)) && same(&v.commands[n], &other.commands[n]) {
		n++
	}
	t := lockstep.Tick(replay.WholeMatch)
	for _, list := range [][]lockstep.Command{v.commands, other.commands} {
		if n < len(list) {
			t = min(t, list[n].Tick)
		}
	}
	return t, t <= v.last
}
