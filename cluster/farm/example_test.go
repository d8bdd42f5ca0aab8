//go:build !js && !wasip1

package farm_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A worker verifies the replays of a folder with a game. Workers on other machines would connect to the same storage.
func Example() {
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string]string{"broken.ssr": "no replay", "notes.txt": "not sent"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: filepath.Join(dir, "storage")})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Stop()
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "farm"})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	ctx := context.Background()
	if err := conn.Setup(ctx, storage.Layout{}); err != nil {
		log.Fatal(err)
	}

	var sent farm.Submitted
	sent, err = farm.Submit(ctx, conn, dir, farm.SubmitOptions{Build: "patch-7"})
	fmt.Printf("%+v, %v\n", sent, err)
	games := replay.Games{lockstep.MustGame(minimal.Rules())}
	if err := farm.Work(ctx, conn, farm.WorkerOptions{Build: "patch-7", Game: games.OfFile, UntilEmpty: true}); err != nil {
		log.Fatal(err)
	}
	err = farm.Watch(ctx, conn, "patch-7", time.Second, func(p farm.Progress) error {
		fmt.Println(p.Done, "done,", p.Left, "left")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for r, err := range farm.Results(ctx, conn, "patch-7") {
		if err != nil {
			log.Fatal(err)
		}
		var _ farm.Result = r
		j := farm.Job{File: r.File, Build: r.Build}
		fmt.Println(j, r.Class)
	}
	results, jobs, err := farm.Forget(ctx, conn, "patch-7")
	fmt.Println(results, jobs, err)
	// Output:
	// {Files:1 Uploaded:1 Queued:1 Known:0}, <nil>
	// 1 done, 0 left
	// {farm/broken.ssr patch-7} corrupt
	// 1 0 <nil>

}
