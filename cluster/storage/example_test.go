package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
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

// The owner of a log says how far it is, where a reader finds it without the log.
func ExampleHead() {
	dir, err := os.MkdirTemp("", "storage")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: dir})
	if err != nil {
		panic(err)
	}
	defer node.Stop()
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "server-a"})
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx := context.Background()
	if err := conn.Setup(ctx, storage.Layout{}); err != nil {
		panic(err)
	}
	id := lockstep.MatchID{1}
	_, err = conn.Head(ctx, id)
	fmt.Println("none yet:", errors.Is(err, jetstream.ErrMsgNotFound))
	if err := conn.TellHead(id, storage.Head{Sequence: 7, Tick: 120}); err != nil {
		panic(err)
	}
	var h storage.Head
	for h.Sequence == 0 { // it is told, and not awaited
		h, _ = conn.Head(ctx, id)
	}
	fmt.Println(h.Sequence, h.Tick)
	// Output:
	// none yet: true
	// 7 120
}

// A storage node knows the public key of a mirror. The mirror connects with the seed, which is secret.
func ExampleNewUser() {
	user, seed, err := storage.NewUser(storage.MirrorRole)
	if err != nil {
		panic(err)
	}
	fmt.Println(user.Role, user.Key[:1], len(user.Key), string(seed[:2]))
	users, err := storage.ReadUsers(strings.NewReader(user.String()))
	fmt.Println(len(users), err)
	// Output:
	// mirror U 56 SU
	// 1 <nil>
}

// A mirror may publish on few subjects. None is that of a log or of a bucket.
func ExamplePermissionsOf() {
	var p storage.Permissions
	p, err := storage.PermissionsOf(storage.MirrorRole)
	if err != nil {
		panic(err)
	}
	for _, subject := range p.Publish {
		if !strings.Contains(subject, "samestep-log-") {
			fmt.Println(subject)
		}
	}
	// Output:
	// $JS.API.DIRECT.GET.KV_samestep-matches
	// $JS.API.DIRECT.GET.KV_samestep-matches.>
	// $JS.API.INFO
	// $JS.API.STREAM.INFO.KV_samestep-matches
}

// The configuration of an existing NATS begins with the account that has the streams.
func ExampleAccounts() {
	var role storage.Role = storage.ServerRole
	text := storage.Accounts([]storage.User{{Role: role, Key: "NKEY_OF_A_SERVER"}})
	for _, line := range strings.SplitN(text, "\n", 6)[:5] {
		fmt.Println(line)
	}
	// Output:
	// accounts {
	//   SAMESTEP {
	//     jetstream: enabled
	//     users: [
	//       { nkey: NKEY_OF_A_SERVER # server
}

// startExample connects to a node with an empty storage.
func startExample() (conn *storage.Conn, end func()) {
	dir, err := os.MkdirTemp("", "storage")
	if err != nil {
		panic(err)
	}
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: dir})
	if err != nil {
		panic(err)
	}
	if conn, err = storage.Dial(node.URL(), storage.DialOptions{Name: "server-a"}); err == nil {
		err = conn.Setup(context.Background(), storage.Layout{Streams: 1})
	}
	if err != nil {
		panic(err)
	}
	return conn, func() {
		conn.Close()
		node.Stop()
		os.RemoveAll(dir)
	}
}

// A node alone leads all streams, and there is nothing to spread.
func ExampleConn_Spread() {
	conn, end := startExample()
	defer end()
	stream, err := conn.Spread(context.Background())
	fmt.Printf("%q %v\n", stream, err)
	// Output: "" <nil>
}

// A mirror reads a log to its end.
func ExampleConn_Tail() {
	conn, end := startExample()
	defer end()
	ctx := context.Background()
	_, subject := conn.LogOf(lockstep.MatchID{1})
	for _, text := range []string{"header", "records"} {
		if _, err := conn.JS.Publish(ctx, subject, []byte(text)); err != nil {
			panic(err)
		}
	}
	var tail *storage.Tail = conn.Tail(lockstep.MatchID{1}, 0)
	defer tail.Close()
	for {
		sequence, message, err := tail.Next(ctx)
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(sequence, string(message))
	}
	// Output:
	// 1 header
	// 2 records
	// EOF
}

// An operator looks where the copies of the streams are.
func ExampleConn_Streams() {
	dir, err := os.MkdirTemp("", "storage")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: dir})
	if err != nil {
		panic(err)
	}
	defer node.Stop()
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "operator", Role: storage.OperatorRole})
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx := context.Background()
	if err := conn.Setup(ctx, storage.Layout{Streams: 1}); err != nil {
		panic(err)
	}
	var streams []storage.Stream = conn.Streams(ctx)
	var copies []storage.Copy = streams[0].Copies
	fmt.Println(streams[0].Name, streams[0].Leader, streams[0].Replicas, len(copies))
	// Output:
	// samestep-log-0 a 1 0
}

// An operator looks at the nodes, and is told what is wrong. Node a is alone, so that it cannot be removed.
func ExampleConn_Status() {
	dir, err := os.MkdirTemp("", "storage")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: dir})
	if err != nil {
		panic(err)
	}
	defer node.Stop()
	ctx := context.Background()
	conn, unused, err := storage.DialAny(ctx, node.URL(), storage.DialOptions{Name: "operator"})
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	var s *storage.Status
	if s, err = conn.Status(ctx); err != nil {
		panic(err)
	}
	var nodes []storage.NodeStatus = s.Nodes
	var faults []storage.Fault = s.Faults()
	fmt.Println(nodes[0].Name, nodes[0].Alive, nodes[0].Free > 0, s.Majority, len(faults), len(unused))
	fmt.Println(conn.RemoveNode(ctx, "a", func(storage.Progress) {}))
	// Output:
	// a true true true 0 0
	// storage: without node a only 0 nodes are up, want 2 for all copies; start another one first
}
