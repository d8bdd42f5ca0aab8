//go:build !js

package archive_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// A server hands its finished replays to an archive, which keeps the last thousand.
func ExampleArchive() {
	temp, err := os.MkdirTemp("", "example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	dir, kept := filepath.Join(temp, "matches"), filepath.Join(temp, "archive")
	var folder *archive.Folder
	if folder, err = archive.OpenFolder(kept); err != nil {
		log.Fatal(err)
	}
	var store archive.Store = folder // or s3.Store
	a, err := archive.New(archive.Options{Store: store, Index: filepath.Join(kept, "index.db"), Keep: archive.Keep{Replays: 1000}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	if _, err := server.New(server.Options{Dir: dir, Archive: a}); err != nil {
		log.Fatal(err)
	}
	replay, err := os.ReadFile("../../testdata/replays/versions/v1result-sealed.ssr") // what the last run left behind
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "final-01020300.ssr"), replay, 0o600)
	}
	if err == nil {
		err = a.Adopt(dir)
	}
	if err == nil {
		err = a.Flush(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
	found, _, err := a.Find(context.Background(), server.ArchiveQuery{Player: "Player 1 é", Result: "Best:1"})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range found {
		fmt.Println(f.Name, f.Players[1].Name, string(f.Result))
	}
	err = store.List(context.Background(), func(o archive.Object) error {
		fmt.Println(o.Name)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	var d archive.Deletion // of a start with a lower limit
	if d, err = archive.Preview(filepath.Join(kept, "index.db"), archive.Keep{Bytes: 1}, time.Now()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Files, d.First)
	var _ server.Archive = a
	var _ server.Archived = found[0]
	var _ server.ArchivedPlayer = found[0].Players[1]
	// Output:
	// final-01020300.ssr player 1 é {"Day":330,"Best":1,"Sums":["345","415"]}
	// final-01020300.ssr
	// final-01020300.ssr.json
	// index.db
	// 1 final-01020300.ssr
}
