package storage_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// askTime is how long an answer about a stream may take. Nobody answers while it has no leader.
const askTime = 300 * time.Millisecond

// leaders returns which streams of logs each node leads.
func leaders(t *testing.T, conn *storage.Conn) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, name := range []string{"0", "1", "2", "3", "segments"} {
		s, err := conn.JS.Stream(within(t, askTime), "samestep-log-"+name)
		if err != nil {
			return nil // it has none right now
		}
		if c := s.CachedInfo().Cluster; c != nil {
			all[c.Leader] = append(all[c.Leader], name)
		}
	}
	return all
}

// testSpread lets one node lead all streams. They spread, one after the other, and then stay where they are.
func testSpread(t *testing.T, conn *storage.Conn) {
	ctx := within(t, 60*time.Second)
	for l := leaders(t, conn); len(l["n1"]) < 5; l = leaders(t, conn) {
		for _, name := range slices.Concat(l["n0"], l["n2"]) { // n1 would only give up what it leads
			_, _ = conn.NATS.RequestWithContext(within(t, askTime), "$JS.API.STREAM.LEADER.STEPDOWN.samestep-log-"+name, []byte(`{"placement":{"preferred":"n1"}}`))
		}
		if pause(ctx); ctx.Err() != nil {
			t.Fatal(l)
		}
	}
	moved := 0
	for even := false; !even; pause(ctx) {
		stream, err := conn.Spread(within(t, 5*askTime))
		if ctx.Err() != nil {
			t.Fatal(err, leaders(t, conn))
		}
		if stream != "" {
			moved++
		}
		l := leaders(t, conn)
		each := []int{len(l["n0"]), len(l["n1"]), len(l["n2"])}
		even = each[0]+each[1]+each[2] == 5 && slices.Max(each)-slices.Min(each) < 2
	}
	if moved > 6 {
		t.Errorf("%d streams have moved, 3 are enough", moved)
	}
	for range 2 {
		if stream, err := conn.Spread(ctx); stream != "" || err != nil {
			t.Errorf("got %q, %v", stream, err)
		}
	}
}

func pause(ctx context.Context) {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
	}
}
