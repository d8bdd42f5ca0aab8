package storage

import (
	"context"
	"time"
)

// Hurry lets a node look ten times as often as usual, every [HurriedLook], and wait as much less.
func (o *NodeOptions) Hurry() {
	u := usualNodeTimes
	o.times = nodeTimes{look: HurriedLook, startAgain: u.startAgain / 10, election: u.election / 10}
}

// Narrow limits what all streams of a node may take together, in bytes.
func (o *NodeOptions) Narrow(bytes int64) { o.maxStore = bytes }

const HurriedLook = 100 * time.Millisecond

// Fail makes the server of the node stop storing, as after a write that found no room.
func (n *Node) Fail() error { return n.now().ShutdownJetStream() }

// Failed reports whether the server of the node stores nothing.
func (n *Node) Failed() bool { return failure(n.now()) != "" }

// LeaderOfNodes returns the node that decides which nodes there are.
func (c *Conn) LeaderOfNodes(ctx context.Context) (string, error) {
	all, err := c.answers(ctx)
	if err != nil {
		return "", err
	}
	return all[0].Leader, nil
}
