package cluster

import (
	"time"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// headEvery is the time between two words of a server about how far its logs are.
const headEvery = 3 * time.Second

// tellHeads says how far the logs of this server are, until the member leaves.
func (m *Member) tellHeads() {
	tick := time.NewTicker(headEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.tellHeadsOnce()
		case <-m.ctx.Done():
			return
		}
	}
}

func (m *Member) tellHeadsOnce() {
	ticks := make(map[string]lockstep.Tick)
	for _, x := range m.server.Matches() {
		v := x.Status()
		ticks[v.Match] = v.Tick
	}
	m.mu.Lock() // so that a log which is removed has no head after that
	defer m.mu.Unlock()
	for id, l := range m.open {
		if end, ok := l.stored(); ok {
			_ = m.options.Conn.TellHead(l.id, storage.Head{Sequence: end, Tick: ticks[id]}) // fails while the storage is away: then nothing is stored, either
		}
	}
}

// stored returns the sequence of the last message that is stored, and false if there is none, or the log is lost.
func (l *matchLog) stored() (sequence uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.owner.End().Sequence
	return end, end > 0 && l.owner.Claimed() && l.err == nil
}
