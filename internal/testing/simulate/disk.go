package simulate

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"syscall"

	"github.com/seed-49bee653/samestep/lockstep"
)

const sectorSize = 512

// A disk holds the files of the server. What was written and not synced is lost
// in a power cut, sector by sector, in any combination.
type disk struct {
	now   *file // the match's file
	next  *file // being written while the match is taken up again
	ops   int   // writes and syncs so far
	plan  *DiskPlan
	slow  lockstep.Time // more that a sync takes, at the moment
	spent lockstep.Time // what the disk took since the server looked last

	failAt  int    // the operation that fails; 0: none
	failure string // how: see operate
	lost    bool   // a sync has failed
	retried int    // syncs after that
	crashed bool   // the process died inside an operation
}

// A file is what is in it, and what of it survives a power cut.
type file struct {
	disk    *disk
	data    []byte
	synced  int
	failing error
}

// operate counts an operation and reports how it fails, if it does.
func (d *disk) operate() string {
	d.ops++
	if d.failAt == 0 || d.ops < d.failAt {
		return ""
	}
	d.failAt = 0
	return d.failure
}

// Write appends to the file.
func (f *file) Write(p []byte) (int, error) {
	if f.failing != nil {
		return 0, f.failing
	}
	n, err := len(p), error(nil)
	switch f.disk.operate() {
	case "eio":
		n, err = len(p)/2, syscall.EIO
	case "full":
		n, err = len(p)/3, syscall.ENOSPC
	case "crash":
		n, err, f.disk.crashed = len(p)/2, syscall.EINTR, true
	}
	f.data = append(f.data, p[:n]...)
	f.failing = err
	return n, err
}

// sync makes all that was written survive.
func (f *file) sync() error { return f.syncTo(len(f.data)) }

// syncTo makes what was written up to a size survive.
func (f *file) syncTo(size int) error {
	if f.disk.lost {
		f.disk.retried++
	}
	f.disk.spent += f.disk.plan.SyncTime + f.disk.slow
	switch f.disk.operate() {
	case "eio", "full":
		f.disk.lost = true
		f.failing = syscall.EIO
		return f.failing
	case "crash":
		f.disk.crashed = true
		return syscall.EINTR
	}
	f.synced = max(f.synced, size)
	return nil
}

// A syncing file is one that the Writer syncs itself.
type syncing struct{ *file }

func (f syncing) Sync() error { return f.sync() }

// powerCut leaves what a power cut leaves: what was synced, and of the sectors
// after it some, some torn, some with what the disk had there before.
func (f *file) powerCut(r *rand.Rand) {
	end := f.synced
	data := slices.Clone(f.data[:end])
	keep := end + r.IntN(len(f.data)-end+1) // the size that the file system has noted
	for at := end; at < keep && at > 0; {
		stop := min(at-at%sectorSize+sectorSize, keep)
		switch r.IntN(5) {
		case 0: // never written: zeros
			data = append(data, make([]byte, stop-at)...)
		case 1: // torn
			n := at + r.IntN(stop-at+1)
			data = append(data, f.data[at:n]...)
			data = append(data, bytes.Repeat([]byte{byte(r.Uint32())}, stop-n)...)
		case 2: // stale: what the disk had there of an earlier file, also blocks that were good once
			old := f.data[r.IntN(at):]
			data = append(data, old[:min(stop-at, len(old))]...)
		default:
			data = append(data, f.data[at:stop]...)
		}
		at = len(data)
	}
	f.data, f.synced = data, len(data)
}

// rot flips a bit of what was synced.
func (f *file) rot(r *rand.Rand) int {
	if f.synced == 0 {
		return -1
	}
	at := r.IntN(f.synced)
	f.data[at] ^= 1 << r.IntN(8)
	return at
}
