package bundles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// A Log is the log of the match.
type Log interface {
	Flush() error
	Size() int64 // of what was flushed
	Await(ctx context.Context, size int64) error
}

// Options says where bundles go, and who hears of them.
type Options struct {
	Log    Log
	Path   string // of the file of Log; "" for none, and then no bundle is written
	Prefix string // of the paths of bundles
	Most   int    // about each player
	Logger *slog.Logger
	Panics interface{ Inc() }
	Told   func(path string) // or nil
}

// Bundles are the bundles of a match.
type Bundles struct {
	Options
	count   map[lockstep.Player]int // about each player
	bytes   int64                   // of all, approximately
	drafts  map[reported]*draft     // that are written again after the player has answered; nil at a limit
	writing sync.WaitGroup
}

// New returns the Bundles of a match.
func New(o Options) *Bundles {
	return &Bundles{Options: o, count: make(map[lockstep.Player]int), drafts: make(map[reported]*draft)}
}

// A Case is what a bundle is made of.
type Case struct {
	Evidence *host.Evidence
	Header   *lockstep.Header
	Contents [][]byte // what another machine needs to simulate the match
	MaxBytes int64    // of all bundles
}

// A draft is a bundle that is written again after the player has answered.
type draft struct {
	path    string
	size    int64         // that is counted
	written chan struct{} // closed after it was written, or could not be
	there   bool          // it is on disk; known when written is closed
}

// A reported says which report of a match a bundle is about.
type reported struct {
	tick   lockstep.Tick
	player lockstep.Player
	tie    bool
}

func reportOf(e *host.Evidence) reported {
	return reported{e.Report.Tick, e.Report.Player, e.Report.Tie}
}

// Known reports whether the report of e was early.
func (b *Bundles) Known(e *host.Evidence) bool {
	_, known := b.drafts[reportOf(e)]
	return known
}

// Early writes a desync's bundle at once, from what is known before the player has answered, so that a crash leaves it.
func (b *Bundles) Early(x *Case) { b.drafts[reportOf(x.Evidence)] = b.write(x, nil, false) } // nil at a limit

// Write writes a bundle, or replaces the one that was written early.
func (b *Bundles) Write(x *Case) {
	of := reportOf(x.Evidence)
	before, known := b.drafts[of]
	delete(b.drafts, of)
	if x.Evidence.Panic != nil || x.Evidence.Twin != nil { // which no desync was
		before, known = nil, false
	}
	if known && before == nil {
		return // at a limit
	}
	if d := b.write(x, before, true); d == nil && before != nil {
		b.keep(before)
	}
}

// End tells of the bundles that are not written again, because the match is over.
func (b *Bundles) End() {
	for of, d := range b.drafts {
		delete(b.drafts, of)
		if d != nil {
			b.keep(d)
		}
	}
}

// Wait waits until all bundles are written.
func (b *Bundles) Wait() { b.writing.Wait() }

// keep tells of a bundle that is not written again.
func (b *Bundles) keep(d *draft) {
	b.background(d.path, func() {
		<-d.written
		if d.there {
			b.tell(d.path)
		}
	})
}

// write writes a bundle in a goroutine of its own, and tells of it if it is complete. It replaces the draft unless that is nil. It
// returns nil if it writes nothing.
func (b *Bundles) write(x *Case, before *draft, complete bool) *draft {
	if b.Path == "" {
		return nil
	}
	e := x.Evidence
	d := &draft{size: b.Log.Size(), written: make(chan struct{})}
	for _, x := range e.Exhibits {
		d.size += int64(len(x.Player) + len(x.Referee))
	}
	for _, f := range e.Flights {
		d.size += int64(len(f.Bytes))
	}
	contents, ok := b.admit(x, d, before)
	if !ok || b.Log.Flush() != nil { // such an error ends the match
		return nil
	}
	size := b.Log.Size()
	what, who := "desync", fmt.Sprintf("player%d", e.Report.Player)
	if e.Report.Tie {
		who = "tie"
	}
	if e.Panic != nil {
		what = "panic"
		if e.Report.Player == lockstep.System {
			who = "server"
		}
	}
	if e.Twin != nil {
		what, who = "twin", "server"
	}
	d.path = fmt.Sprintf("%s-%s-%d-%s.zip", b.Prefix, what, e.Report.Tick, who)
	b.background(d.path, func() {
		defer close(d.written)
		if before != nil {
			<-before.written
			d.there = before.there
		}
		path := d.path
		err := b.Log.Await(context.Background(), size)
		if err == nil {
			path, err = writeBundle(d.path, b.Path, size, x.Header, e, contents)
		}
		if err != nil {
			b.Logger.Error("bundle", "path", path, "err", err)
		} else {
			d.there = true
		}
		if d.there && complete {
			b.tell(path)
		}
	})
	return d
}

// background runs code that handles a bundle in a goroutine.
func (b *Bundles) background(path string, f func()) {
	b.writing.Go(func() {
		defer func() {
			if v := recover(); v != nil { // of the game's code, or the operator's
				b.Panics.Inc()
				b.Logger.Error("panic", "path", path, "panic", v, "stack", string(debug.Stack()))
			}
		}()
		f()
	})
}

// tell tells of a bundle that is not written again.
func (b *Bundles) tell(path string) {
	b.Logger.Warn("bundle", "path", path)
	if b.Told != nil {
		b.Told(path)
	}
}

// bundlesOfMatch limits the bundles of a match to this multiple of Most, besides the first of each player.
const bundlesOfMatch = 4

// admit counts a bundle that is about to be written, in the place of a draft unless that is nil. It reports false at a limit. The contents
// are nil if they do not fit.
func (b *Bundles) admit(x *Case, d, before *draft) (contents [][]byte, ok bool) {
	about, spent := x.Evidence.Report.Player, b.bytes
	if before != nil {
		spent -= before.size
	} else {
		all := 0
		for _, n := range b.count {
			all += n
		}
		if of := b.count[about]; of >= b.Most || of > 0 && all >= bundlesOfMatch*b.Most {
			return nil, false
		}
	}
	more := int64(0)
	for _, c := range x.Contents {
		more += int64(len(c))
	}
	if spent+d.size+more <= x.MaxBytes {
		contents, d.size = x.Contents, d.size+more
	}
	if spent+d.size > x.MaxBytes {
		return nil, false
	}
	if b.bytes = spent + d.size; before == nil {
		b.count[about]++
	}
	return contents, true
}

// writeBundle writes a bundle to a temporary file and then renames it, so that nobody reads an incomplete one. It returns the path, which is
// another one if there is a bundle of a twin: nothing replaces that, and a server that goes on after a crash computes ticks again.
func writeBundle(path, replayPath string, size int64, h *lockstep.Header, e *host.Evidence, contents [][]byte) (at string, err error) {
	whole := path
	from, err := files.OpenNoFollow(replayPath)
	if err != nil {
		return path, err
	}
	defer from.Close()
	f, err := os.CreateTemp(filepath.Dir(path), ".bundle-*")
	if err != nil {
		return path, err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := replay.WriteBundle(f, h, e, io.LimitReader(from, size), contents...); err != nil {
		return path, err
	}
	if err := f.Close(); err != nil {
		return path, err
	}
	for n := 2; e.Twin != nil && n < maxTwins; n++ {
		if linked := os.Link(f.Name(), path); linked == nil {
			return path, os.Remove(f.Name())
		} else if !errors.Is(linked, fs.ErrExist) {
			break // such as a file system without links
		}
		path = fmt.Sprintf("%s-%d.zip", strings.TrimSuffix(whole, ".zip"), n)
	}
	return path, os.Rename(f.Name(), path)
}

// maxTwins is the most names that are tried for the bundle of a twin at one tick. The last one is replaced.
const maxTwins = 100
