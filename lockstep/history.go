package lockstep

import "github.com/seed-49bee653/samestep/checksum"

// HistoryOptions set how much of a simulation's past to keep.
type HistoryOptions struct {
	// Length is the number of moments to keep; 0 means 64.
	Length int

	// EveryTick keeps every tick, not only the checked ones. It costs a checksum each tick.
	EveryTick bool

	// States keeps the canonical bytes of the states, not only their checksums. It costs a snapshot for each moment,
	// and Length times the size of the state.
	States bool
}

// A Moment is the history of one tick.
type Moment struct {
	Tick  Tick
	Sum   checksum.Sum
	State []byte // canonical bytes; nil if they are not kept
}

// history is a ring of the latest moments, by ascending tick.
type history struct {
	ring  []Moment
	first int // of the oldest
	n     int
	spare []byte // memory for the next state
}

// next returns the moment to fill for tick t. It reuses the oldest one.
func (h *history) next(t Tick) *Moment {
	m := &h.ring[(h.first+h.n)%len(h.ring)]
	if h.n < len(h.ring) {
		h.n++
	} else {
		h.first = (h.first + 1) % len(h.ring)
	}
	m.Tick = t
	if m.State == nil {
		m.State, h.spare = h.spare, nil
	}
	return m
}

// release drops the states before tick t.
func (h *history) release(t Tick) {
	for i := range h.n {
		m := h.at(i)
		if m.Tick >= t {
			return
		}
		if m.State != nil {
			m.State, h.spare = nil, m.State
		}
	}
}

func (h *history) at(i int) *Moment { return &h.ring[(h.first+i)%len(h.ring)] }

// find returns the moment of tick t, or nil.
func (h *history) find(t Tick) *Moment {
	if m := h.since(t); m != nil && m.Tick == t {
		return m
	}
	return nil
}

// since returns the first moment at or after tick t, or nil.
func (h *history) since(t Tick) *Moment {
	lo, hi := 0, h.n
	for lo < hi {
		mid := (lo + hi) / 2
		if h.at(mid).Tick < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < h.n {
		return h.at(lo)
	}
	return nil
}
