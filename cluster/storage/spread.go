package storage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Spread lets another node lead one stream of logs, if one node leads two more than another. After a restart of the nodes most
// streams can have the same leader, and its death would hold most matches. The matches of the stream are held for a moment. It
// returns the stream, or "" if all is well or a copy is behind.
func (c *Conn) Spread(ctx context.Context) (stream string, err error) {
	leads := make(map[string][]string) // streams by their leader
	for i := range c.layout.Streams + 1 {
		name := fmt.Sprint(logStream, i)
		if i == c.layout.Streams {
			name = segmentStream
		}
		s, err := c.JS.Stream(ctx, name)
		if err != nil {
			return "", fmt.Errorf("storage: stream %s: %w", name, err)
		}
		nodes := s.CachedInfo().Cluster
		if nodes == nil || nodes.Leader == "" || slices.ContainsFunc(nodes.Replicas, func(p *jetstream.PeerInfo) bool { return p.Offline || !p.Current }) {
			return "", nil
		}
		leads[nodes.Leader] = append(leads[nodes.Leader], name)
		for _, p := range nodes.Replicas {
			leads[p.Name] = append(leads[p.Name], nil...)
		}
	}
	names := slices.Sorted(maps.Keys(leads))
	slices.SortStableFunc(names, func(a, b string) int { return len(leads[a]) - len(leads[b]) })
	least, most := names[0], names[len(names)-1]
	if len(leads[most])-len(leads[least]) < 2 {
		return "", nil
	}
	stream = leads[most][0]
	return stream, c.lead(ctx, stream, least)
}

// lead makes a node the leader of a stream, of which it has a copy.
func (c *Conn) lead(ctx context.Context, stream, node string) error {
	ctx, cancel := context.WithTimeout(ctx, leadTime)
	defer cancel()
	return c.request(ctx, stepDown+stream, map[string]any{"placement": map[string]string{"preferred": node}})
}

// leadTime is how long the storage may take to change a leader.
const leadTime = 2 * time.Second
