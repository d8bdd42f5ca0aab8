package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server/internal/livelog"
)

// NotReady returns the reasons for which the server cannot start another match and write its replay, without paths. It
// is ready if there are none.
func (s *Server) NotReady() (reasons []string) {
	draining, matches, unread := s.registry.load()
	if draining {
		reasons = append(reasons, "the server is shutting down")
	}
	if most := s.gates.limits.Load().MaxMatches; matches >= most {
		reasons = append(reasons, fmt.Sprintf("got %d matches, want less than %d", matches, most))
	}
	if unread > 0 {
		reasons = append(reasons, fmt.Sprintf("the bans of %d matches cannot be read", unread))
	}
	if r := s.options.Replicator; r != nil {
		if err := r.Check(); err != nil {
			reasons = append(reasons, err.Error())
		}
	}
	_, err := s.storage.check()
	switch {
	case err != nil:
		reasons = append(reasons, strings.TrimPrefix(err.Error(), "server: "))
	case s.registry.census().held[livelog.HeldByFullDisk] > 0: // by a quota, perhaps
		reasons = append(reasons, livelog.HeldByFullDisk)
	}
	return reasons
}

// ready answers whether another match could start and be written, and which matches are held.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	reasons := s.NotReady()
	status, lines := http.StatusOK, []string{"ready"}
	if len(reasons) > 0 {
		status, lines = http.StatusServiceUnavailable, []string{"not ready"}
	}
	lines = append(lines, reasons...)
	held := s.registry.census().held
	for _, reason := range slices.Sorted(maps.Keys(held)) {
		if n := held[reason]; n > 0 {
			lines = append(lines, fmt.Sprintf("matches held: %d, because %s", n, reason))
		}
	}
	h := w.Header()
	h.Set("Connection", "close") // the budget of connections is the only limit of this route
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, strings.Join(lines, "\n"))
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.registry.isClosed() {
		fail(w, codeShutdown, "shutting down")
		return
	}
	w.Header().Set("Connection", "close") // the budget of connections is the only limit of this route
	w.Write([]byte("ok\n"))
}

// collect sums the present values of all matches.
func (s *Server) collect(to chan<- prometheus.Metric) {
	gauge := func(name, help string, v float64, label ...string) { measure.Gauge(to, name, help, v, label...) }
	flag := func(name, help string, on bool) { gauge(name, help, map[bool]float64{true: 1}[on]) }
	sum := s.registry.census()
	for state, n := range sum.states {
		gauge("samestep_matches", "Matches on the server, by state. A match that has ended stays until its connections have closed.", float64(n), "state", matchState(state).String())
	}
	for reason, n := range sum.held {
		gauge("samestep_held_matches", "Matches that seal no ticks now, by reason.", float64(n), "reason", reason)
	}
	for role, n := range sum.roles {
		gauge("samestep_connections", "Authenticated connections, by role.", float64(n), "role", roleNames[role])
	}
	flag("samestep_ready", "1 if the server could start another match and write its replay, else 0.", len(s.NotReady()) == 0)
	flag("samestep_draining", "1 while the server drains or stops, so that it starts no match; else 0.", s.Draining())
	free, _ := s.storage.check()
	gauge("samestep_disk_free_bytes", "Free bytes on the disk of the replays, or -1 if they are unknown.", float64(free))
	gauge("samestep_disk_write_age_seconds", "How long the disk has not answered the oldest write or sync of a replay, or check of its folder; 0 if it has answered all.", s.operations.age().Seconds())
	gauge("samestep_datagram_connections", "Connections that datagrams bring the records now.", float64(sum.stats.ByDatagrams))
	gauge("samestep_memory_bytes", "Memory that matches use for their connections, in bytes.", float64(sum.stats.Memory))
	for of, parts := range map[string][len(memoryParts)]int{"all": sum.memory, "largest": sum.largest} {
		for i, n := range parts {
			gauge("samestep_match_memory_bytes", "Memory that matches are known to hold, by part: of all matches together, and of the largest one. What the rules hold beside the bytes of the state is not known.", float64(n), "of", "part", of, memoryParts[i])
		}
	}
	gauge("samestep_ring_records", "Records that matches keep for their connections.", float64(sum.stats.RingRecords))
	gauge("samestep_max_lag_ticks", "Lag of the live connection that is furthest behind, in ticks.", float64(sum.stats.MaxLag))
	for i, n := range sum.stats.Peers {
		gauge("samestep_peers", "Connections, by state.", float64(n), "state", host.PeerState(i).String())
	}
	o := s.gates.limits.Load()
	guests, bots, stateBytes := s.guests.Sum()
	for of, n := range map[string][2]float64{
		"matches": {float64(guests), float64(o.GuestMatches)}, "bots": {float64(bots), float64(o.GuestBots)}, "state_bytes": {float64(stateBytes), float64(o.GuestStateBytes)},
	} {
		gauge("samestep_guests", "What guests' matches use: matches, bots, and bytes of state.", n[0], "of", of)
		gauge("samestep_guests_limit", "The limits of samestep_guests.", n[1], "of", of)
	}
}

// A census sums the latest statuss of all matches.
type census struct {
	stats           host.Stats // Peers, ByDatagrams, Memory, RingRecords and MaxLag
	states          [matchStates]int
	held            map[string]int // matches by the reason of their hold
	roles           [protocol.Admin + 1]int
	memory, largest [len(memoryParts)]int // by part: of all matches, and of the one that holds most
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
		c.add(m.status.Load())
	}
	return c
}

func (c *census) add(v *Status) {
	state := v.state()
	c.states[state]++
	if state == matchHeld {
		c.held[v.Held]++
	}
	for role, n := range v.roles {
		c.roles[role] += n
	}
	parts, of, most := v.memory.parts(), 0, 0
	for i, n := range parts {
		c.memory[i] += n
		of, most = of+n, most+c.largest[i]
	}
	if of > most {
		c.largest = parts
	}
	for i, n := range v.Stats.Peers {
		c.stats.Peers[i] += n
	}
	c.stats.ByDatagrams += v.Stats.ByDatagrams
	c.stats.Memory += v.Stats.Memory
	c.stats.RingRecords += v.Stats.RingRecords
	c.stats.MaxLag = max(c.stats.MaxLag, v.Stats.MaxLag)
}
