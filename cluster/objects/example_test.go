//go:build !js && !wasip1

package objects_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/server/archive"
)

// A program keeps a file in the storage of its cluster, which here is a node in the same process.
func ExampleStore() {
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var node *storage.Node
	if node, err = storage.StartNode(storage.NodeOptions{Name: "a", Dir: dir}); err != nil {
		log.Fatal(err)
	}
	defer node.Stop()
	var conn *storage.Conn
	if conn, err = storage.Dial(node.URL(), storage.DialOptions{Name: "archive"}); err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	ctx := context.Background()
	if err := conn.Setup(ctx, storage.Layout{Replicas: 1}); err != nil {
		log.Fatal(err)
	}
	var s *objects.Store = objects.New(conn)
	if err := s.Write(ctx, "final.ssr", []byte("a replay")); err != nil {
		log.Fatal(err)
	}
	f, err := s.Open(ctx, "final.ssr")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	fmt.Printf("%s, %v\n", b, err)

	// What a crash has left over for a week goes.
	var cleaner archive.Cleaner = s
	removed, err := cleaner.Clean(ctx)
	fmt.Println(removed, err)

	// Another program learns what has changed.
	var j archive.Journal = s
	mark, err := j.Mark(ctx)
	if err == nil {
		err = s.Delete(ctx, "final.ssr")
	}
	if err == nil {
		err = j.Changes(ctx, mark, func(c archive.Change) error {
			fmt.Println(c.Name, c.Deleted)
			return nil
		})
	}
	fmt.Println(err)
	// Output:
	// a replay, <nil>
	// 0 <nil>
	// final.ssr true
	// <nil>
}
