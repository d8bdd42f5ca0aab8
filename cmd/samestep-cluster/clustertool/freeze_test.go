//go:build linux

package clustertool_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// frozenFor is how long the disk of TestFrozenFileSystem answers nothing: longer than the limits of the server.
const frozenFor = 8 * time.Second

// The file system of a server's matches freezes, and answers again. The match is held meanwhile, its players and the metrics
// say so, and nothing is lost. It freezes again, and the server is stopped: it ends all the same, says what is not
// written, and the next one goes on with the match. Without the right to mount a disk the test is skipped.
func TestFrozenFileSystem(t *testing.T) {
	overlap(t)
	testenv.Long(t)
	dir := t.TempDir()
	disk, err := fleet.MountDisk(filepath.Join(dir, "image"), filepath.Join(dir, "server-0"))
	if err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() {
		if err := disk.Unmount(); err != nil {
			t.Error(err)
		}
	})
	x := besiege(t, fleet.Options{Dir: dir, Servers: 1, Flags: []string{"--durability", "frame", "--resume"}})
	t.Cleanup(func() { disk.Thaw() }) // or its server would not end
	const reason = "the server's disk is slow"
	server := x.fleet.Servers[0]
	held := `samestep_held_matches{reason="` + reason + `"}`
	freeze := func() {
		if err := disk.Freeze(); err != nil {
			t.Fatal(err)
		}
		await(t, "the match is held", func() bool { return scraped(t, server.URL, held) == 1 })
	}
	thaw := func() {
		if err := disk.Thaw(); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range x.players {
		p.Measure()
	}
	freeze()
	slowest, age := time.Duration(0), 0.0
	for began := time.Now(); time.Since(began) < frozenFor; time.Sleep(200 * time.Millisecond) {
		at := time.Now()
		age = max(age, scraped(t, server.URL, "samestep_disk_write_age_seconds"))
		slowest = max(slowest, time.Since(at))
	}
	if age < frozenFor.Seconds()/2 {
		t.Errorf("the oldest write has waited for %v s", age)
	}
	for _, p := range x.players {
		if !p.Seen().Held[reason] {
			t.Errorf("seat %d was told %v", p.Seat, p.Seen().Held)
		}
	}
	thaw()
	x.playOn()
	await(t, "the match is not held any more", func() bool { return scraped(t, server.URL, held) == 0 })
	t.Logf("the slowest of the scrapes took %v, the oldest write %.1f s", slowest, age)

	freeze()
	began := time.Now()
	server.Signal(syscall.SIGTERM)
	const lacks = "lacks the end of the logs of duel ("
	await(t, "the server has said what is not written", func() bool {
		log, err := os.ReadFile(filepath.Join(dir, "server-0.log"))
		return err == nil && bytes.Contains(log, []byte("server: the disk has not answered for ")) && bytes.Contains(log, []byte(lacks))
	})
	t.Logf("the server has ended %v after the signal", time.Since(began))
	thaw()
	server.Wait() // Linux keeps the process until its disk answers
	if err := x.fleet.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	x.playOn()
	x.judgeAt(0)
	x.fleet.Servers[0].Stop() // before its disk is gone
}

// scraped returns a metric of a server.
func scraped(t *testing.T, url, name string) float64 {
	t.Helper()
	r, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in\n%s", name, text)
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
