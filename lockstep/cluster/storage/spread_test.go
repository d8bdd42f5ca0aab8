package storage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// leaders returns how many streams of logs each node leads.
func leaders(t *testing.T, conn *storage.Conn) map[string]int {
	t.Helper()
	all := make(map[string]int)
	for _, name := range []string{"0", "1", "2", "3", "segments"} {
		s, err := conn.JS.Stream(t.Context(), "samestep-log-"+name)
		if err != nil {
			return nil // it has none right now
		}
		if c := s.CachedInfo().Cluster; c != nil {
			all[c.Leader]++
		}
	}
	return all
}

// One node leads all streams. They spread, one after the other, and then stay where they are.
func TestSpread(t *testing.T) {
	t.Parallel()
	routes := freeAddresses(t, 3)
	var conn *storage.Conn
	for i, route := range routes {
		n, err := storage.StartNode(storage.NodeOptions{Name: fmt.Sprint("n", i), Dir: t.TempDir(), Cluster: route, Routes: routes})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Stop)
		if i == 0 {
			if conn, err = storage.Dial(n.URL(), storage.DialOptions{Name: "test"}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(conn.Close)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	if err := conn.Setup(ctx, storage.Layout{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	crowd := func() bool { return leaders(t, conn)["n1"] == 5 }
	for !crowd() {
		for _, name := range []string{"0", "1", "2", "3", "segments"} {
			_, _ = conn.NATS.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN.samestep-log-"+name, []byte(`{"placement":{"preferred":"n1"}}`))
		}
		if pause(ctx); ctx.Err() != nil {
			t.Fatal(leaders(t, conn))
		}
	}
	moved := 0
	for even := false; !even; pause(ctx) {
		stream, err := conn.Spread(ctx)
		if err != nil && ctx.Err() != nil {
			t.Fatal(err, leaders(t, conn))
		}
		if stream != "" {
			moved++
		}
		l := leaders(t, conn)
		even = l["n0"] > 0 && l["n1"] > 0 && l["n2"] > 0
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
