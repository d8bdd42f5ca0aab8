//go:build !js && !wasip1

package farm_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/replay"
)

// filesEnv is the number of files of TestSoak.
const filesEnv = "SAMESTEP_FARM_FILES"

// kills is the number of kills in TestSoak; each fourth one is of the storage node.
const kills = 20

// Many replays, and kill -9 of workers and of the storage node while they are submitted and verified:
//
//	SAMESTEP_FARM_FILES=10000 go test ./cluster/farm -run TestSoak -v
func TestSoak(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(filesEnv))
	if err != nil {
		t.Skip(filesEnv + " is not set")
	}
	short := matches(t, 40)
	files := map[string][]byte{}
	for i := range n {
		files[fmt.Sprintf("%02d/m%05d.ssr", i%10, i)] = short[fmt.Sprintf("m%05d.ssr", i%40)]
	}
	dir := folder(t, files)
	nodeEnv := []string{dirEnv + "=" + t.TempDir(), urlEnv + "="}
	node := startProcess(t, "node", nodeEnv...)
	nodeEnv[1] = urlEnv + "=" + strings.TrimPrefix(node.url, "nats://") // at the same address again
	conn, err := storage.Dial(node.url, storage.DialOptions{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := &cluster{t: t, conn: conn}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	if err := conn.Setup(ctx, storage.Layout{}); err != nil {
		t.Fatal(err)
	}
	env := []string{urlEnv + "=" + node.url, ackWaitEnv + "=" + seconds(2)}
	var workers []*process
	for range 3 {
		workers = append(workers, startProcess(t, "worker", env...))
	}
	from := time.Now()
	submitted := make(chan error, 1)
	go func() {
		sent, err := farm.Submit(ctx, conn, dir, farm.SubmitOptions{Build: build})
		t.Logf("submitted %+v in %v", sent, time.Since(from).Round(time.Second))
		submitted <- err
	}()
	for kill := range kills {
		for writtenSoFar(ctx, conn) < (kill+1)*n/(kills+1) && ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		if kill%4 == 3 {
			node.kill()
			node = startProcess(t, "node", nodeEnv...)
			continue
		}
		w := kill % len(workers)
		workers[w].kill()
		workers[w] = startProcess(t, "worker", env...)
	}
	if err := <-submitted; err != nil {
		t.Fatal(err)
	}
	got := c.results(20 * time.Minute)
	again := 0
	for name := range files {
		r, ok := got["farm/"+name]
		if !ok || r.Class != replay.ClassOK {
			t.Errorf("%s: got %+v", name, r)
		}
		if r.Deliveries > 1 {
			again++
		}
	}
	if w := c.written(); len(got) != n || w != n {
		t.Errorf("got %d results, written %d times, want %d", len(got), w, n)
	}
	t.Logf("%d files, %d kills, %d files delivered again, %v", n, kills, again, time.Since(from).Round(time.Second))
}

// writtenSoFar returns how many results were stored, or 0 while the storage is away.
func writtenSoFar(ctx context.Context, conn *storage.Conn) int {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := conn.JS.Stream(ctx, "KV_"+storage.ResultsBucket)
	if err != nil {
		return 0
	}
	return int(stream.CachedInfo().State.LastSeq)
}
