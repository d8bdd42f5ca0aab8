package storage_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A node alone stores a log, and refuses an append that expects another end.
func TestOneNode(t *testing.T) {
	t.Parallel()
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Stop()
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 2 {
		if err := conn.Setup(ctx, storage.Layout{}); err != nil {
			t.Fatal(err)
		}
	}
	_, subject := conn.LogOf(lockstep.MatchID{1})
	for i := range 3 {
		ack, err := conn.JS.Publish(ctx, subject, fmt.Append(nil, i), jetstream.WithExpectLastSequencePerSubject(uint64(i)))
		if err != nil || ack.Sequence != uint64(i+1) {
			t.Fatal(ack, err)
		}
	}
	if _, err := conn.JS.Publish(ctx, subject, nil, jetstream.WithExpectLastSequencePerSubject(2)); err == nil {
		t.Error("a stale append was stored")
	}
}

// freeAddresses returns addresses on loopback that nobody listens on.
func freeAddresses(t *testing.T, n int) (all []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}

// Three nodes spread the streams that they lead, and store a log while two of them are there.
func TestThreeNodes(t *testing.T) {
	t.Parallel()
	routes := freeAddresses(t, 3)
	var nodes []*storage.Node
	for i, route := range routes {
		n, err := storage.StartNode(storage.NodeOptions{Name: fmt.Sprint("n", i), Dir: t.TempDir(), Cluster: route, Routes: routes})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Stop)
		nodes = append(nodes, n)
	}
	conn, err := storage.Dial(nodes[0].URL(), storage.DialOptions{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if err := conn.Setup(within(t, 60*time.Second), storage.Layout{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	later, reader := dialAt(t, nodes[1].URL()), dialAt(t, nodes[2].URL())
	if err := errors.Join(later.Setup(within(t, 60*time.Second), storage.Layout{}), reader.Learn(within(t, 60*time.Second))); err != nil {
		t.Fatal(err)
	}
	if later.HasOneCopy() || reader.HasOneCopy() {
		t.Error("a program that asks for one copy, or for none, does not know that the cluster keeps three")
	}
	t.Run("spread", func(t *testing.T) { testSpread(t, conn) })
	t.Run("two", func(t *testing.T) {
		ctx := within(t, 30*time.Second)
		_, subject := conn.LogOf(lockstep.MatchID{1})
		if _, err := conn.JS.Publish(ctx, subject, nil); err != nil {
			t.Fatal(err)
		}
		nodes[2].Stop()
		for {
			_, err := conn.JS.Publish(ctx, subject, nil)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	})
}
