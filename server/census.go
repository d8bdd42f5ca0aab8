package server

import (
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// roleNames are the names of protocol.Role.
var roleNames = [protocol.Admin + 1]string{"spectator", "player", "admin"}

// A census sums the latest views of all matches.
type census struct {
	stats  host.Stats // Peers, ByDatagrams, Memory, RingRecords and MaxLag
	states [matchStates]int
	held   map[string]int // matches by the reason of their hold
	roles  [protocol.Admin + 1]int
}

// census counts what the server has.
func (reg *registry) census() *census {
	c := &census{held: make(map[string]int)}
	for _, reason := range holdReasons {
		c.held[reason] = 0
	}
	reg.mu.Lock()
	defer reg.mu.Unlock()
	c.states[matchRecovering] = len(reg.recoveries.pending)
	c.states[matchFailed] = len(reg.recoveries.failed)
	c.states[matchStarting] = -len(reg.recoveries.pending)
	for _, m := range reg.matches {
		if m == nil {
			c.states[matchStarting]++
			continue
		}
		c.add(m.view.Load())
	}
	return c
}

func (c *census) add(v *View) {
	state := v.state()
	c.states[state]++
	if state == matchHeld {
		c.held[v.Held]++
	}
	for role, n := range v.roles {
		c.roles[role] += n
	}
	for i, n := range v.Stats.Peers {
		c.stats.Peers[i] += n
	}
	c.stats.ByDatagrams += v.Stats.ByDatagrams
	c.stats.Memory += v.Stats.Memory
	c.stats.RingRecords += v.Stats.RingRecords
	c.stats.MaxLag = max(c.stats.MaxLag, v.Stats.MaxLag)
}
