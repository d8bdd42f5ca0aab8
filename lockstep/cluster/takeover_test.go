package cluster_test

import (
	"testing"
	"time"
)

// A match whose server is lost goes on at another server, and loses no tick that anybody saw.
func TestTakeover(t *testing.T) {
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	b := newSite(t, "b", node.URL(), 1)
	m := a.create(t, "duel")
	await(t, "tick 20", func() bool { return m.View().Tick >= 20 })
	seen := m.View().Tick
	a.vanish()
	began := time.Now()
	await(t, "b has the match", func() bool { return b.has("duel") != nil })
	t.Logf("after %v", time.Since(began))
	next := b.has("duel")
	if next.View().Tick < seen {
		t.Errorf("b continues after tick %d, and tick %d was seen", next.View().Tick, seen)
	}
	await(t, "it goes on", func() bool { return next.View().Tick > seen+20 })
}
