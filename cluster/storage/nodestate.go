package storage

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
)

// A nodeState is what a node knows of its cluster.
type nodeState struct {
	peers       []string // names of the other nodes that it is connected to, in order
	nodes       int      // of the cluster, as far as it knows
	members     []member // these nodes, in order
	leader      string   // of the cluster; "" without a majority
	streams     int      // with a copy on this node
	bytes       uint64   // of them
	connections int      // of clients
	enabled     bool     // it stores anything at all
}

// A member is a node that counts for the majority.
type member struct {
	Name    string        `json:"name"`
	Peer    string        `json:"peer"` // how NATS names it
	Offline bool          `json:"offline"`
	Unseen  time.Duration `json:"unseen"` // since the leader heard of it; 0 if unknown
}

// stateOf returns what the server of a node knows now.
func stateOf(n *nats.Server) nodeState {
	s := nodeState{nodes: 1, connections: n.NumClients() - 1} // without the desk
	if js, err := n.Jsz(nil); err == nil && !js.Disabled {
		s.enabled, s.streams, s.bytes = true, js.Streams, js.Bytes
		if js.Meta == nil {
			s.leader, s.members = n.Name(), []member{{Name: n.Name()}}
			return s
		}
		s.nodes, s.leader, s.members = js.Meta.Size, js.Meta.Leader, membersOf(n, js.Meta)
	}
	if routes, err := n.Routez(&nats.RoutezOptions{}); err == nil {
		names := make(map[string]bool)
		for _, r := range routes.Routes { // several for each node
			names[r.RemoteName] = true
		}
		s.peers = slices.Sorted(maps.Keys(names))
	}
	s.nodes = max(s.nodes, len(s.peers)+1)
	return s
}

// membersOf returns the nodes of a cluster as a server knows them.
func membersOf(n *nats.Server, meta *nats.MetaClusterInfo) (all []member) {
	all = append(all, member{Name: n.Name(), Peer: n.Node()})
	for _, p := range meta.Replicas {
		m := member{p.Name, p.Peer, p.Offline, p.Active}
		if strings.Contains(m.Name, p.Peer) {
			m.Name = p.Peer // its name is not known yet
		}
		if p.Peer != n.Node() {
			all = append(all, m)
		}
	}
	if meta.Leader != "" && meta.Leader != n.Name() && !slices.ContainsFunc(all, func(m member) bool { return m.Name == meta.Leader }) {
		all = append(all, member{Name: meta.Leader, Peer: meta.Peer})
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// copiesMissing returns how many copies are missing of the streams that this node leads, and of those on it that nobody leads: at
// least a majority of theirs. The node is connected to peers.
func copiesMissing(n *nats.Server, peers []string) (missing int) {
	js, err := n.Jsz(&nats.JSzOptions{Streams: true, Config: true})
	if err != nil {
		return 0
	}
	for _, a := range js.AccountDetails {
		for _, s := range a.Streams {
			if s.Cluster == nil || s.Config == nil {
				continue
			}
			if s.Cluster.Leader == "" || s.Cluster.Leader == n.Name() {
				missing += missingOf(s.Config.Replicas, s.Cluster, peers)
			}
		}
	}
	return missing
}

// missingOf returns how many copies of a stream are missing, as a node sees it that is connected to peers.
func missingOf(replicas int, c *nats.ClusterInfo, peers []string) int {
	s := Stream{Replicas: replicas, Leader: c.Leader}
	for _, r := range c.Replicas {
		s.Copies = append(s.Copies, Copy{r.Name, r.Offline || !slices.Contains(peers, r.Name), r.Current, r.Lag})
	}
	return s.Missing()
}

// notReady returns why the node stores nothing, or "".
func (s *nodeState) notReady() string {
	switch {
	case !s.enabled:
		return "the node's own storage has failed or stopped"
	case s.leader == "":
		return fmt.Sprintf("no majority of the nodes agrees on a leader: connected to %d of %d, with this one", len(s.peers)+1, s.nodes)
	}
	return ""
}

// watchPeers logs nodes that are lost and found, and the time without a majority, until ctx ends.
func watchPeers(ctx context.Context, server func() *nats.Server, log *slog.Logger, t nodeTimes) {
	tick := time.NewTicker(t.look)
	defer tick.Stop()
	var known []string
	led, warned := time.Now(), false
	for {
		s := stateOf(server())
		for _, name := range s.peers {
			if !slices.Contains(known, name) {
				log.Info("another node is found", "peer", name, "connected", len(s.peers)+1, "nodes", s.nodes)
			}
		}
		for _, name := range known {
			if !slices.Contains(s.peers, name) {
				log.Warn("another node is lost", "peer", name, "connected", len(s.peers)+1, "nodes", s.nodes)
			}
		}
		known = s.peers
		why := s.notReady()
		switch now := time.Now(); {
		case why == "" && warned:
			log.Info("the storage works again", "leader", s.leader)
			led, warned = now, false
		case why == "":
			led = now
		case !warned && now.Sub(led) > t.election:
			log.Warn("nothing can be stored", "why", why)
			warned = true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// A nodeLog is the log of an embedded node, as lines of the program's own. It implements the Logger of nats-server.
type nodeLog struct {
	log   *slog.Logger
	fatal chan string // holds the first failure for which the node cannot start

	removed atomic.Bool // an operator has removed the node from its cluster: NATS tells it only so before it stops storing

	mu   sync.Mutex
	last map[string]time.Time // of each line, without its numbers
}

// repeatAfter is the shortest time between two lines that differ only in numbers, such as that a route failed again.
const repeatAfter = time.Minute

// wasRemoved is a part of the line with which NATS says that the node is not a member of the cluster any more.
const wasRemoved = "our server was removed from the cluster"

func newNodeLog(log *slog.Logger, name string) *nodeLog {
	return &nodeLog{log: log.With("node", name), fatal: make(chan string, 1), last: make(map[string]time.Time)}
}

// isNew reports whether a line was not logged for repeatAfter.
func (l *nodeLog) isNew(text string) bool {
	key := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for k, at := range l.last {
		if now.Sub(at) >= repeatAfter {
			delete(l.last, k)
		}
	}
	if _, known := l.last[key]; known {
		return false
	}
	l.last[key] = now
	return true
}

// Noticef implements the Logger of nats-server. The lines about peers and leaders are those of watchPeers.
func (l *nodeLog) Noticef(format string, v ...any) {
	l.log.Debug("storage node", "says", fmt.Sprintf(format, v...))
}

// Warnf implements the Logger of nats-server, which warns of much that is usual.
func (l *nodeLog) Warnf(format string, v ...any) {
	if text := fmt.Sprintf(format, v...); l.isNew(text) {
		l.log.Info("storage node", "says", text)
	}
}

// Errorf implements the Logger of nats-server.
func (l *nodeLog) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if strings.Contains(text, wasRemoved) {
		l.removed.Store(true)
	}
	if l.isNew(text) {
		l.log.Error("storage node", "err", text)
	}
}

// Fatalf implements the Logger of nats-server. The node goes on, and [StartNode] stops it.
func (l *nodeLog) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	select {
	case l.fatal <- text:
	default: // the first one is the cause
	}
}

// Debugf implements the Logger of nats-server.
func (l *nodeLog) Debugf(string, ...any) {}

// Tracef implements the Logger of nats-server.
func (l *nodeLog) Tracef(string, ...any) {}
