package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A Progress is how far a change of the nodes has come.
type Progress struct {
	Whole   int    `json:"whole"` // streams that are where they should be, with all copies
	Streams int    `json:"streams"`
	Waiting string `json:"waiting,omitempty"` // for what
}

// changeStep is the time between two looks at a change.
const changeStep = 250 * time.Millisecond

// AddNode waits for a node, and gives it its share of the streams. The node must have been started with the addresses of others.
func (c *Conn) AddNode(ctx context.Context, node string, tell func(Progress)) error {
	if err := c.awaitMember(ctx, node, tell); err != nil {
		return err
	}
	s, err := c.Status(ctx)
	if err != nil {
		return err
	}
	for _, n := range s.Nodes {
		if n.Member && !n.Alive {
			return fmt.Errorf("storage: node %s does not answer: start it again, or replace it by %s, which is no addition then", n.Name, node)
		}
	}
	if err := c.awaitWhole(ctx, anywhere, tell); err != nil {
		return err
	}
	for {
		s, err := c.Status(ctx)
		if err != nil {
			return err
		}
		stream, from := s.move(node)
		if stream == "" && ctx.Err() != nil { // no node had the time to answer
			return fmt.Errorf("storage: node %s: %w", node, ctx.Err())
		}
		if stream == "" {
			return nil
		}
		err = c.request(ctx, evacuatePeer+stream, map[string]string{"peer": from})
		var refused *jetstream.APIError
		if errors.As(err, &refused) && refused.Code == unavailable {
			why := "no node takes a copy of " + stream + s.without(stream)
			tell(Progress{Waiting: why})
			if !Pause(ctx, changeStep) {
				return fmt.Errorf("storage: %s: %w", why, refused)
			}
			continue
		}
		if err != nil {
			return err
		}
		leaves := func(x *Stream) bool { return x.Name == stream && x.on(from) }
		if err := c.awaitWhole(ctx, leaves, tell); err != nil {
			return err
		}
		after, err := c.Status(ctx)
		if err != nil {
			return err
		}
		if n, now := s.node(node), after.node(node); n == nil || now == nil || now.Copies <= n.Copies {
			return fmt.Errorf("storage: stream %s went to another node than %s", stream, node)
		}
	}
}

// without returns what could keep each live node without a copy of a stream from taking one.
func (s *Status) without(stream string) (text string) {
	i := slices.IndexFunc(s.Streams, func(x Stream) bool { return x.Name == stream })
	for _, n := range s.Nodes {
		switch {
		case !n.Alive || s.Streams[i].on(n.Name):
		case n.Problem != "":
			text += fmt.Sprintf("; node %s stores nothing: %s", n.Name, n.Problem)
		case n.Free >= 0:
			text += fmt.Sprintf("; node %s has %d MiB of room", n.Name, n.Free>>20)
		}
	}
	return text
}

// move returns a stream of which a node should get the copy that another one has, or "" if it has its share.
func (s *Status) move(node string) (stream, from string) {
	n := s.node(node)
	if n == nil {
		return "", ""
	}
	var most *NodeStatus
	for i := range s.Nodes {
		if x := &s.Nodes[i]; x.Member && x.Alive && (most == nil || x.Copies > most.Copies) {
			most = x
		}
	}
	if most == nil || most.Copies < n.Copies+2 {
		return "", ""
	}
	for _, x := range s.Streams {
		if x.on(node) || !x.on(most.Name) {
			continue
		}
		stream, from = x.Name, most.Name
		if x.Leader != most.Name {
			break // moving a copy that does not lead holds no match
		}
	}
	return stream, from
}

// DrainNode moves all copies off a node, which stays one of the cluster.
func (c *Conn) DrainNode(ctx context.Context, node string, tell func(Progress)) error {
	n, err := c.leaving(ctx, node)
	if err != nil {
		return err
	}
	if !n.Alive {
		return fmt.Errorf("storage: node %s does not answer: remove or replace it", node)
	}
	if err := c.request(ctx, drainSubject, map[string]string{"peer_id": n.peer}); err != nil {
		return err
	}
	return c.awaitWhole(ctx, off(node), tell)
}

// RemoveNode takes a node out of the cluster, alive or not. The copies that it has, or had, are made on others.
func (c *Conn) RemoveNode(ctx context.Context, node string, tell func(Progress)) error {
	n, err := c.leaving(ctx, node)
	if err != nil {
		return err
	}
	if n.Alive { // no stream may have fewer copies meanwhile
		if err := c.DrainNode(ctx, node, tell); err != nil {
			return err
		}
	}
	for n != nil && n.Member { // the answer can be lost with the leader
		err := c.request(ctx, removeSubject, map[string]string{"peer_id": n.peer})
		if ctx.Err() != nil {
			return err
		}
		s, serr := c.Status(ctx)
		if serr != nil {
			return errors.Join(err, serr)
		}
		tell(Progress{Waiting: "node " + node + " to be no member"})
		if s.Majority {
			n = s.node(node)
		}
	}
	return c.awaitWhole(ctx, off(node), tell)
}

// ReplaceNode lets another node take the place of one, alive or not. They have the same name if a lost node was started anew with an
// empty folder: then it gets its copies by itself, and ReplaceNode waits for them.
func (c *Conn) ReplaceNode(ctx context.Context, node, by string, tell func(Progress)) error {
	if err := c.awaitMember(ctx, by, tell); err != nil {
		return err
	}
	if node == by {
		return c.awaitWhole(ctx, anywhere, tell)
	}
	return c.RemoveNode(ctx, node, tell)
}

// leaving returns a member that may go: enough others live for all copies.
func (c *Conn) leaving(ctx context.Context, node string) (*NodeStatus, error) {
	s, err := c.Status(ctx)
	if err != nil {
		return nil, err
	}
	n := s.node(node)
	switch {
	case len(s.members()) == 0:
		return nil, errForeign
	case !s.Majority:
		f := s.noMajority()
		return nil, fmt.Errorf("storage: %s. %s", f.What, f.Do)
	case n == nil || !n.Member:
		return nil, fmt.Errorf("storage: got node %q, want one of %q", node, s.members())
	}
	if live, wanted := s.aliveWithout(node), max(s.copiesWanted(), 2); live < wanted {
		return nil, fmt.Errorf("storage: without node %s only %d nodes are up, want %d for all copies; start another one first", node, live, wanted)
	}
	return n, nil
}

// errForeign is returned for nodes that are not of this package.
var errForeign = fmt.Errorf("storage: no node answers: an existing NATS needs its own tools (nats server cluster peer-remove)")

// awaitMember waits until a node lives, counts for the majority and stores.
func (c *Conn) awaitMember(ctx context.Context, node string, tell func(Progress)) error {
	for {
		why := ""
		s, err := c.Status(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			if len(s.members()) == 0 {
				return errForeign
			}
			n := s.node(node)
			if n != nil && n.Problem != "" {
				why = ": " + n.Problem
			} else if s.Majority && n != nil && n.Member && n.Alive {
				return nil
			}
		}
		tell(Progress{Waiting: "node " + node + why})
		if !Pause(ctx, changeStep) {
			return fmt.Errorf("storage: node %s did not join%s: %w", node, why, ctx.Err())
		}
	}
}

// anywhere is for streams that need not move.
func anywhere(*Stream) bool { return false }

// off is for streams that leave a node.
func off(node string) func(*Stream) bool { return func(s *Stream) bool { return s.on(node) } }

// awaitWhole waits until all streams have been whole, and none is where it should not be. A busy copy is behind for moments, so a
// stream counts once it has been seen whole.
func (c *Conn) awaitWhole(ctx context.Context, misplaced func(*Stream) bool, tell func(Progress)) error {
	seen := make(map[string]bool)
	for {
		p := Progress{}
		for _, s := range c.Streams(ctx) {
			p.Streams++
			switch {
			case s.Problem != "":
				p.Waiting = s.Name + ": " + s.Problem
			case misplaced(&s):
				p.Waiting = s.Name + " moves"
			case seen[s.Name] || s.whole():
				seen[s.Name] = true
				p.Whole++
			default:
				p.Waiting = fmt.Sprintf("%s has %d of %d copies", s.Name, s.Replicas-s.unfinished(), s.Replicas)
			}
		}
		tell(p)
		if p.Whole == p.Streams {
			return nil
		}
		if !Pause(ctx, changeStep) {
			return fmt.Errorf("storage: %d of %d streams are whole, %s: %w", p.Whole, p.Streams, p.Waiting, ctx.Err())
		}
	}
}

// request sends a request that changes nodes or streams.
func (c *Conn) request(ctx context.Context, subject string, body any) error {
	ctx, cancel := context.WithTimeout(ctx, deskTime)
	defer cancel()
	if err := c.ask(ctx, subject, body, nil); err != nil {
		return fmt.Errorf("storage: %s: %w", subject, err)
	}
	return nil
}

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
