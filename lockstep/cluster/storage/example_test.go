package storage_test

import (
	"context"
	"fmt"
	"os"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// A storage node in this process keeps the log of a match.
func ExampleStartNode() {
	dir, err := os.MkdirTemp("", "storage")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var node *storage.Node
	if node, err = storage.StartNode(storage.NodeOptions{Name: "a", Dir: dir}); err != nil {
		panic(err)
	}
	defer node.Stop()
	var conn *storage.Conn
	if conn, err = storage.Dial(node.URL(), storage.DialOptions{Name: "server-a"}); err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx := context.Background()
	if err := conn.Setup(ctx, storage.Layout{Streams: 1}); err != nil {
		panic(err)
	}
	stream, subject := conn.LogOf(lockstep.MatchID{1})
	fmt.Println(stream, subject)
	_, err = conn.JS.Publish(ctx, subject, []byte("header"), jetstream.WithExpectLastSequencePerSubject(0))
	fmt.Println("stored:", err == nil)
	_, err = conn.JS.Publish(ctx, subject, []byte("too late"), jetstream.WithExpectLastSequencePerSubject(0))
	fmt.Println("refused:", err != nil)
	// Output:
	// samestep-log-0 samestep.log.0.01000000000000000000000000000000
	// stored: true
	// refused: true
}
