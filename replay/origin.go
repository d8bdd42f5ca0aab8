package replay

import (
	"errors"
	"io"

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
	s, err := r.scan(lockstep.MaxTick)
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

// An originLog gives the records up to a tick to a Recovery.
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
