package storage

import (
	"context"
	"fmt"
	"time"
)

const (
	majorityEvery = 2 * time.Second // between two questions for a majority
	majorityTime  = 2 * time.Second // for an answer

	// majorityLost is how long there must be no majority, so that the choice of another leader is none of its loss.
	majorityLost = 5 * time.Second
)

// Away returns why the storage can be of no use now, or "" if the connection does not know of a reason. It waits for nothing.
func (c *Conn) Away() string {
	if !c.NATS.IsConnected() {
		return "the storage is away"
	}
	m := &c.majority
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if !m.asking && now.Sub(m.asked) >= majorityEvery {
		m.asking, m.asked = true, now
		go c.askMajority()
	}
	if m.since.IsZero() || now.Sub(m.since) < majorityLost {
		return ""
	}
	return fmt.Sprintf("the storage node %s has no majority: %v", c.NATS.ConnectedServerName(), m.err)
}

// askMajority asks for what only a node with a majority says.
func (c *Conn) askMajority() {
	ctx, cancel := context.WithTimeout(context.Background(), majorityTime)
	defer cancel()
	began := time.Now()
	_, err := c.JS.AccountInfo(ctx)
	m := &c.majority
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asking, m.err = false, err
	switch {
	case err == nil:
		m.since = time.Time{}
	case m.since.IsZero():
		m.since = began
	}
}
