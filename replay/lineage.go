package replay

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An Origin is the state after a tick of a match, in which other matches can begin.
type Origin struct {
	Header  *lockstep.Header // of the match with the state
	Lineage record.Lineage   // for the logs of the others

	// Recovery has the log up to the tick: the argument of its Begin is a header that differs from Header in the match.
	Recovery *host.Recovery
}

// ReadOrigin reads a replay up to a tick, or to its last one with [WholeMatch], for matches that begin there. name is that
// of the match. The states before the last keyframe before the tick are not simulated. The error is a [*TickError] if the
// replay lacks the tick, and wraps a [*lockstep.DesyncError] if the replay contradicts the game.
func ReadOrigin(r *Reader, g *lockstep.Game, name string, tick lockstep.Tick, o SimulateOptions) (*Origin, error) {
	s, err := r.scan(record.MaxTick)
	var damage *DamageError
	if len(s.marks) == 0 || err != nil && !errors.As(err, &damage) {
		return nil, verifyHeader(r, g, err)
	}
	if tick == WholeMatch {
		if err != nil && (damage.Next > 0 || !errors.Is(damage, io.ErrUnexpectedEOF)) {
			return nil, err // its last tick may be far from its end
		}
		tick = s.last
	}
	first := s.marks[0].tick
	if tick < first || tick > s.last {
		return nil, &TickError{Tick: tick, First: first, Last: s.last}
	}
	log, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	recovery := host.NewRecovery(g)
	from := before(s.marks, max(tick, 1)-1).tick // at least a tick is simulated, which says whether the rules end the match
	if from > first {
		recovery.SkipTo(from)
	}
	if err := r.CheckTicks(tick-from, o.MaxTicks); err != nil {
		return nil, err
	}
	x := &originLog{recovery, o, tick, from}
	if _, err := upTo(log, tick, x); err != nil && !errors.As(err, &damage) {
		return nil, err
	}
	if err := recovery.Check(); err != nil {
		return nil, err
	}
	content, _, err := HashContent(r, tick)
	if err != nil {
		return nil, err
	}
	h := recovery.Header()
	return &Origin{h, record.Lineage{Content: content.String(), Match: h.Match.String(), Name: name, Tick: tick}, recovery}, nil
}

type originLog struct {
	recovery *host.Recovery
	options  SimulateOptions
	tick     lockstep.Tick
	from     lockstep.Tick
}

func (l *originLog) Append(raw []byte) error {
	if record.KindOf(raw) == record.KindEnd {
		return nil // a match that its server has ended can go on
	}
	err := l.recovery.Append(raw)
	if t := l.recovery.Tick(); t >= l.from {
		l.options.progress(t-l.from, l.tick-l.from)
	}
	return err
}

// maxAncestors bounds how far a lineage is followed. A forged one may have no end.
const maxAncestors = 64

type beginning struct {
	tick    lockstep.Tick // of the first keyframe
	hash    uint64
	lineage *record.Lineage // or nil
}

func readBeginning(r *Reader) (b beginning, err error) {
	first, err := r.Reopen()
	if err != nil {
		return b, err
	}
	for rec, err := range first.All() {
		switch {
		case err != nil:
			return b, err
		case rec.Ticks() > 0:
			return b, nil
		case rec.Kind == record.KindKeyframe:
			b.tick, b.hash = rec.Tick, rec.Keyframe.Hash
		case b.lineage == nil:
			b.lineage = lineageOf(rec)
		}
	}
	return b, nil
}

// An Ancestor is a match in whose state another match began, and what became of the search for it.
type Ancestor struct {
	record.Lineage
	Path   string `json:"file,omitempty"`   // of its replay, if it was followed there
	Reason string `json:"reason,omitempty"` // why it was not followed; "" if it was
}

// FollowLineage compares the first state of a match with that of its parent, the parent's with that of its own parent, and so on. It
// looks for a parent with the content of the lineage in places: files, and folders with replays. The last Ancestor may have a Reason.
// There is none for a match that began at its own beginning. The error wraps a [*lockstep.DesyncError] if a first state differs.
func FollowLineage(r *Reader, game func(*File) (*lockstep.Game, error), places []string, o SimulateOptions) (all []Ancestor, err error) {
	parents := replaysIn(places)
	for len(all) < maxAncestors {
		b, err := readBeginning(r)
		if err != nil || b.lineage == nil {
			return all, err
		}
		a := Ancestor{Lineage: *b.lineage}
		if a.Tick != b.tick {
			a.Reason = fmt.Sprintf("the first state is of tick %d", b.tick)
			return append(all, a), nil
		}
		parent, why := findParent(&a, parents)
		if parent == nil {
			a.Reason = why
			return append(all, a), nil
		}
		defer parent.Close()
		if r, err = parent.Reader(); err != nil {
			return all, err
		}
		g, err := game(parent)
		if err != nil {
			a.Reason = err.Error()
			return append(all, a), nil
		}
		if err = follow(&a, b.hash, r, g, o); err != nil || a.Reason != "" {
			return append(all, a), err
		}
		a.Path = parent.Path()
		all = append(all, a)
	}
	return all, nil
}

func follow(a *Ancestor, hash uint64, parent *Reader, g *lockstep.Game, o SimulateOptions) error {
	m, err := StateAt(parent, g, a.Tick, o)
	if err != nil {
		a.Reason = err.Error()
		return nil
	}
	if m.Hash != hash {
		return fmt.Errorf("replay: the match did not begin in the state of its parent %q: %w", a.Name, &lockstep.DesyncError{Tick: a.Tick, Got: m.Hash, Want: hash, Keyframe: true})
	}
	return nil
}

func findParent(a *Ancestor, candidates []candidate) (*File, string) {
	why := "its replay was not found"
	for _, c := range candidates {
		f, err := c.open(c.path)
		if err != nil {
			continue
		}
		if h, err := f.Header(); err == nil && h.Match.String() == a.Match {
			r, err := f.Reader()
			var got Hash
			var reached lockstep.Tick
			if err == nil {
				got, reached, err = HashContent(r, a.Tick)
			}
			switch {
			case err != nil:
				why = fmt.Sprintf("%s: %v", c.path, err)
			case reached < a.Tick:
				why = fmt.Sprintf("%s ends at tick %d", c.path, reached)
			case got.String() != a.Content:
				why = fmt.Sprintf("%s has the content %s up to tick %d", c.path, got, a.Tick)
			default:
				return f, ""
			}
		}
		f.Close()
	}
	return nil, why
}

type candidate struct {
	path string
	open func(string) (*File, error)
}

func replaysIn(places []string) (all []candidate) {
	for _, place := range places {
		entries, err := os.ReadDir(place)
		if err != nil {
			all = append(all, candidate{place, Open})
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.EqualFold(filepath.Ext(e.Name()), ".ssr") {
				all = append(all, candidate{filepath.Join(place, e.Name()), OpenNoFollow})
			}
		}
	}
	return all
}
