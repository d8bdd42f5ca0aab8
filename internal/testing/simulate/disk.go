package simulate

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"syscall"

	"github.com/seed-49bee653/samestep/lockstep"
)

const sectorSize = 512

// A disk holds the files of the server. A power cut loses any combination of the
// sectors that were written but not synced.
type disk struct {
	now   *file // the match's file
	next  *file // written by a recovery
	ops   int   // writes and syncs so far
	plan  *DiskPlan
	slow  lockstep.Time // added to the time of a sync
	spent lockstep.Time // time since the server last looked

	failAt  int    // the operation that fails; 0: none
	failure string // see operate
	lost    bool   // a sync has failed
	retried int    // syncs after that
	crashed bool   // the process died inside an operation
}

// A file knows its content and the part that survives a power cut.
type file struct {
	disk    *disk
	data    []byte
	synced  int
	failing error
}

// operate counts an operation. It returns how the operation fails; "" if it does
// not.
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

// sync syncs the whole file.
func (f *file) sync() error { return f.syncTo(len(f.data)) }

// syncTo syncs the file up to a size.
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

// A syncing file is synced by the Writer.
type syncing struct{ *file }

func (f syncing) Sync() error { return f.sync() }

// powerCut keeps the synced part, and of the sectors after it some, some torn, and
// some with older content of the disk.
func (f *file) powerCut(r *rand.Rand) {
	end := f.synced
	data := slices.Clone(f.data[:end])
	keep := end + r.IntN(len(f.data)-end+1) // the size in the file system
	for at := end; at < keep && at > 0; {
		stop := min(at-at%sectorSize+sectorSize, keep)
		switch r.IntN(5) {
		case 0: // never written: zeros
			data = append(data, make([]byte, stop-at)...)
		case 1: // torn
			n := at + r.IntN(stop-at+1)
			data = append(data, f.data[at:n]...)
			data = append(data, bytes.Repeat([]byte{byte(r.Uint32())}, stop-n)...)
		case 2: // stale: blocks of an earlier file
			old := f.data[r.IntN(at):]
			data = append(data, old[:min(stop-at, len(old))]...)
		default:
			data = append(data, f.data[at:stop]...)
		}
		at = len(data)
	}
	f.data, f.synced = data, len(data)
}

// rot flips a bit of the synced part.
func (f *file) rot(r *rand.Rand) int {
	if f.synced == 0 {
		return -1
	}
	at := r.IntN(f.synced)
	f.data[at] ^= 1 << r.IntN(8)
	return at
}
