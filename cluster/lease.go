package cluster

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
)

// A Server is what the lease of a server says about it.
type Server struct {
	Name     string  `json:"name"`
	Address  string  `json:"address"`
	Matches  int     `json:"matches"`
	Capacity int     `json:"capacity"`
	Builds   []Build `json:"builds"`
	Draining bool    `json:"draining,omitempty"` // it takes no more matches
}

// A Build is a build of a game.
type Build struct {
	Game  string `json:"game"`
	Build string `json:"build"`
}

// renewEvery is the time between two renewals of a lease.
const renewEvery = storage.LeaseTime / 5

// can reports whether the server has room for a match of a build.
func (s *Server) can(b Build) bool {
	if s.Draining || s.Matches >= s.Capacity {
		return false
	}
	for _, own := range s.Builds {
		if own == b {
			return true
		}
	}
	return false
}

// self returns what this server's lease says. The mutex is held.
func (m *Member) self() Server {
	return Server{Name: m.id, Address: m.options.Address, Matches: m.loads()[m.id], Capacity: m.options.Capacity, Builds: m.options.Builds, Draining: m.drains()}
}

// drains reports whether this server takes no more matches. The mutex is held.
func (m *Member) drains() bool { return m.draining || m.server != nil && m.server.Draining() }

// loads returns how many matches each server has. The directory says it at once, the lease of a server only when that is
// renewed. The mutex is held.
func (m *Member) loads() map[string]int {
	all := make(map[string]int)
	for _, e := range m.entries {
		if e.State != ownership.Released && e.State != ownership.Failed {
			all[e.Server]++
		}
	}
	return all
}

// renew renews this server's lease once.
func (m *Member) renew(ctx context.Context) error {
	m.mu.Lock()
	s := m.self()
	m.mu.Unlock()
	value, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Server has only strings and numbers
	}
	ctx, cancel := context.WithTimeout(ctx, storage.LeaseTime/2)
	defer cancel()
	sent := m.now()
	revision, err := m.servers.Put(ctx, s.Name, value)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.leases.Failed()
		return err
	}
	m.renewed = sent
	m.leases.Renewed(revision, sent, m.now())
	return nil
}

// keepLease renews the lease until the member leaves.
func (m *Member) keepLease() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	failing := false
	tried := time.Now() // another node, or the lease was renewed
	for {
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
		err := m.renew(m.ctx)
		if err != nil && !failing && m.ctx.Err() == nil {
			m.options.Log.Warn("the lease was not renewed", "err", err)
		} else if err == nil && failing {
			m.options.Log.Info("the lease is renewed again")
		}
		failing = err != nil
		if !failing {
			tried = time.Now()
		} else if time.Since(tried) > m.times.elsewhere {
			tried = time.Now()
			_ = m.options.Conn.NATS.ForceReconnect() // fails only while it connects anyway
		}
	}
}

// spreadEvery is the time between two looks at which nodes lead the streams of logs.
const spreadEvery = time.Minute

// spread keeps the leaders of the streams of logs on different nodes until the member leaves. The first of the live servers
// does it.
func (m *Member) spread() {
	tick := time.NewTicker(spreadEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
		if !m.first() {
			continue
		}
		switch stream, err := m.options.Conn.Spread(m.ctx); {
		case err != nil:
			m.options.Log.Debug("the leaders of the streams are not spread", "err", err)
		case stream != "":
			m.options.Log.Info("another node leads a stream, because one led too many", "stream", stream)
		}
	}
}

// first reports whether no other live server has a name before this one's.
func (m *Member) first() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.others {
		if name < m.id && !m.leases.Expired(name, m.now()) {
			return false
		}
	}
	return m.leases.Mine(m.now())
}

// sawServer takes an update of a lease.
func (m *Member) sawServer(name string, value []byte, revision uint64) {
	s := &Server{}
	if json.Unmarshal(value, s) != nil || s.Name != name {
		return // not of a member
	}
	if _, err := parseAddress(s.Address); err != nil {
		return // no member begins with it
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.others[name] = s
	m.leases.Seen(name, revision, m.now())
	m.announce()
}

// serverLeft takes a lease that its server has given up. One that runs out is no news: the storage may have been away.
func (m *Member) serverLeft(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.others, name)
	m.leases.Left(name, m.now())
	m.announce()
}
