package storage

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
)

// A nodeState is what a node knows of its cluster.
type nodeState struct {
	peers       []string // names of the other nodes that it is connected to, in order
	nodes       int      // of the cluster, as far as it knows
	leader      string   // of the cluster; "" without a majority
	streams     int      // with a copy on this node
	bytes       uint64   // of them
	connections int      // of clients
	enabled     bool     // it stores anything at all
}

// stateOf returns what the server of a node knows now.
func stateOf(n *nats.Server) nodeState {
	s := nodeState{nodes: 1, connections: n.NumClients()}
	if js, err := n.Jsz(nil); err == nil && !js.Disabled {
		s.enabled, s.streams, s.bytes = true, js.Streams, js.Bytes
		if js.Meta == nil {
			s.leader = n.Name()
			return s
		}
		s.nodes, s.leader = js.Meta.Size, js.Meta.Leader
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
