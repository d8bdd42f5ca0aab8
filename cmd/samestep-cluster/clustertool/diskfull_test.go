//go:build linux

package clustertool_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A smallDisk is a file system of its own in memory.
type smallDisk struct {
	t    *testing.T
	path string
	from int64 // of the node's log, for says
}

// smallDisks mounts a small disk for each node of a fleet that has its files in a folder, until the test ends. Without the
// right to do so it skips the test.
func smallDisks(t *testing.T, dir string, nodes int) (all []*smallDisk) {
	t.Helper()
	for i := range nodes {
		path := filepath.Join(dir, fmt.Sprint("node-", i))
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "size=32m"); err != nil {
			t.Skipf("this user may not mount a small disk: %v", err)
		}
		t.Cleanup(func() { syscall.Unmount(path, syscall.MNT_DETACH) })
		all = append(all, &smallDisk{t: t, path: path})
	}
	return all
}

// fill takes all the room that the disk has.
func (d *smallDisk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.path, "other"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4096, 1} {
		for err = error(nil); err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}

// free gives the room back.
func (d *smallDisk) free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.path, "other")); err != nil {
		d.t.Fatal(err)
	}
}

// exhaust keeps the disk full until its node has noticed: the node itself makes room now and then.
func (d *smallDisk) exhaust() {
	d.t.Helper()
	await(d.t, "the node stores nothing any more", func() bool {
		d.fill()
		return d.says("cannot store anything")
	})
}

// recovers waits until the node stores again, and forgets what it has logged.
func (d *smallDisk) recovers() {
	d.t.Helper()
	await(d.t, "the node stores again", func() bool { return d.says("stores again") })
	info, err := os.Stat(d.path + ".log")
	if err != nil {
		d.t.Fatal(err)
	}
	d.from = info.Size()
}

// says reports whether the node has logged a text since it last recovered.
func (d *smallDisk) says(text string) bool {
	log, err := os.ReadFile(d.path + ".log")
	return err == nil && bytes.Contains(log[d.from:], []byte(text))
}

// The disk of one of three nodes is full: of the one that leads the match's stream, and every second time of another one.
// The match goes on at the other two. When there is room again, the node is a full member without any help.
func TestNodeDiskFull(t *testing.T) {
	overlap(t)
	testenv.Named(t)
	dir := t.TempDir()
	disks := smallDisks(t, dir, 3)
	x := besiege(t, fleet.Options{Dir: dir, Nodes: 3, Servers: 2})
	for i := range times(t, 1) {
		node := (x.leader("duel") + i%2) % 3
		x.lose(func(*fleet.Process) { disks[node].exhaust() })
		x.soak(cutTime)
		disks[node].free()
		disks[node].recovers()
		x.heal()
	}
	x.judge()
}

// While the disk of the only node is full the match is held, with the reason, and it goes on when there is room again. Every
// second time that takes longer than a server keeps a match that it cannot store.
func TestOnlyDiskFull(t *testing.T) {
	overlap(t)
	testenv.Named(t)
	dir := t.TempDir()
	disk := smallDisks(t, dir, 1)[0]
	x := besiege(t, fleet.Options{Dir: dir, Nodes: 1, Servers: 2})
	for i := range times(t, 1) {
		x.lose(func(*fleet.Process) {
			disk.exhaust()
			for _, p := range x.players {
				await(t, "a player knows why the match is held", func() bool { return p.Seen().Held[away] })
			}
			if i%2 == 1 {
				time.Sleep(giveUpTime)
			}
			disk.free()
		})
		disk.recovers()
		x.heal()
	}
	x.judge()
}

const (
	// away is the reason that players see while the storage stores nothing.
	away = "the replicated log does not answer"

	// giveUpTime is longer than a server keeps a match that it cannot store.
	giveUpTime = 20 * time.Second
)
