package server

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	// maxReplays is the number of replays that are listed: the latest ones.
	maxReplays = 1000

	// maxDownloads is the number of replays that are sent at the same time.
	maxDownloads = 64

	// maxDownloadsEach is the number of these for one address.
	maxDownloadsEach = 8

	// listAge is the time for which a list of the folder is cached.
	listAge = time.Second
)

// liveFolder is the folder in Options.Dir with the logs of matches that are not over. A start reads only these.
const liveFolder = "live"

// A replayFile is a replay that can be downloaded.
type replayFile struct {
	Name      string    `json:"name"` // of the file
	SizeBytes int64     `json:"size_bytes,string"`
	Ended     time.Time `json:"ended"` // time of the last write
}

// A replayFolder has the replays of finished matches. A match is finished when its replay's file is not locked, which
// also holds if another server writes it.
type replayFolder struct {
	dir string

	reading sync.Mutex // held while the folder is read, which lasts for as long as its disk does not answer

	mu        sync.Mutex
	live      map[string]bool // names of the files that this server writes, for systems without locks
	listed    []replayFile
	listedAt  time.Time
	changes   uint64 // of live
	downloads wsmatch.Places
}

var replayName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.ssr$`)

// evidenceName takes the name of a replay's file, without its extension, out of the name of a bundle or of the page about one. The end is
// always the server's, so a match that is named like a bundle does not mislead it.
var evidenceName = regexp.MustCompile(`^(.+)-(?:desync|panic)-[0-9]+-(player[0-9]+|tie|server)\.(zip|html)$`)

// ReplayOf returns the name of the replay that a bundle, or the page about one, belongs to by its name: "" for any other name.
func ReplayOf(name string) string {
	if words := evidenceName.FindStringSubmatch(name); words != nil {
		return words[1] + ".ssr"
	}
	return ""
}

// isBundle reports whether a file has the name of a bundle.
func isBundle(name string) bool {
	return filepath.Ext(name) == ".zip" && replayName.MatchString(ReplayOf(name))
}

// list returns the replays of finished matches, the latest first. The replay of a running match would reveal its state.
func (r *replayFolder) list() ([]replayFile, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.mu.Lock()
	listed, changes, age := r.listed, r.changes, time.Since(r.listedAt)
	live := maps.Clone(r.live)
	r.mu.Unlock()
	if listed != nil && age < listAge {
		return listed, nil
	}
	all, err := r.files(live)
	if err != nil {
		return nil, err
	}
	finished := all[:0]
	for _, x := range all {
		if len(finished) == maxReplays {
			break
		}
		if f, _, err := openFinished(filepath.Join(r.dir, x.Name)); err == nil {
			f.Close()
			finished = append(finished, x)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes == changes {
		r.listed, r.listedAt = slices.Clip(finished), time.Now()
	}
	return finished, nil
}

// files returns the replays of the folder besides the live ones, the latest first.
func (r *replayFolder) files(live map[string]bool) ([]replayFile, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, err
	}
	all := []replayFile{}
	for _, e := range entries {
		if !replayName.MatchString(e.Name()) || !e.Type().IsRegular() || live[e.Name()] {
			continue
		}
		if info, err := e.Info(); err == nil { // otherwise it was removed
			all = append(all, replayFile{e.Name(), info.Size(), info.ModTime().UTC().Truncate(time.Second)})
		}
	}
	slices.SortFunc(all, func(a, b replayFile) int {
		return cmp.Or(b.Ended.Compare(a.Ended), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

// setLive records whether this server writes a replay.
func (r *replayFolder) setLive(name string, live bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if live {
		r.live[name] = true
	} else {
		delete(r.live, name)
	}
	r.listed = nil
	r.changes++
}

// openFile opens the replay of a finished match, or a desync bundle of one.
func (r *replayFolder) openFile(name string) (*os.File, fs.FileInfo, error) {
	if !isBundle(name) {
		return r.open(name)
	}
	match, _, err := r.open(ReplayOf(name)) // the bundle of a running match would reveal its state
	if err != nil {
		return nil, nil, err
	}
	match.Close()
	return openFinished(filepath.Join(r.dir, name))
}

// evidence returns the paths of the bundles and pages that belong to a replay.
func (r *replayFolder) evidence(replay string) (paths []string, err error) {
	entries, err := os.ReadDir(r.dir)
	for _, e := range entries {
		if ReplayOf(e.Name()) == replay && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(r.dir, e.Name()))
		}
	}
	return paths, err
}

// open opens the replay of a finished match.
func (r *replayFolder) open(name string) (*os.File, fs.FileInfo, error) {
	r.mu.Lock()
	live := r.live[name]
	r.mu.Unlock()
	if live || !replayName.MatchString(name) {
		return nil, nil, fs.ErrNotExist
	}
	return openFinished(filepath.Join(r.dir, name))
}

// openFinished opens the replay of a finished match.
func openFinished(path string) (*os.File, fs.FileInfo, error) {
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, nil, err
	}
	live, err := replay.Locked(f)
	if err == nil && disclosure.Secret.Files(disclosure.Spectator, !live) != nil { // an admin has GET /matches/NAME/save
		err = fs.ErrNotExist
	}
	var info fs.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// archived returns the path of a replay once its match is over: in the folder, if its log is in the live folder.
func (r *replayFolder) archived(path string) string {
	dir, name := filepath.Split(path)
	if r.dir == "" || filepath.Clean(dir) != filepath.Join(r.dir, liveFolder) {
		return path
	}
	return filepath.Join(r.dir, name)
}

// remove removes the replay of a finished match from the folder, after its bundles and their pages. Of these it removes
// one alone, but a bundle with its page, also if the replay is gone.
func (r *replayFolder) remove(name string) error {
	if of := ReplayOf(name); of != "" {
		return r.removeEvidence(name, of)
	}
	f, _, err := r.open(name)
	if err != nil {
		return err
	}
	f.Close() // Windows removes no open file
	evidence, err := r.evidence(name)
	for _, path := range evidence {
		if rerr := os.Remove(path); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	if err != nil {
		return err // the replay stays, so that it can be deleted again
	}
	err = os.Remove(filepath.Join(r.dir, name))
	r.setLive(name, false)
	return err
}

// removeEvidence removes a bundle with its page, or a page, of a match that is over.
func (r *replayFolder) removeEvidence(name, of string) error {
	if _, err := os.Lstat(filepath.Join(r.dir, liveFolder, of)); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fs.ErrNotExist) // it runs, or waits to be resumed
	}
	f, _, err := r.open(of)
	if err == nil {
		f.Close()
	} else if _, lerr := os.Lstat(filepath.Join(r.dir, of)); !errors.Is(lerr, fs.ErrNotExist) {
		return err
	}
	err = os.Remove(filepath.Join(r.dir, name))
	if err == nil && isBundle(name) {
		if err = os.Remove(filepath.Join(r.dir, trimExt(name)+".html")); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

func trimExt(path string) string { return path[:len(path)-len(filepath.Ext(path))] }

// A sealer takes over the replays of matches that are over.
type sealer struct {
	replays  *replayFolder
	store    Archive // or nil
	key      ed25519.PrivateKey
	keepOpen bool
	failures *measure.Failure

	seals   chan struct{} // holds a value while a replay is being sealed
	sealing sync.WaitGroup
	ctx     context.Context // ends when no more replays are sealed
	stop    func()
}

func newSealer(o *Options, replays *replayFolder, failures *measure.Failure) *sealer {
	sl := &sealer{replays: replays, store: o.Archive, key: o.SignKey, keepOpen: o.KeepOpen, failures: failures, seals: make(chan struct{}, 1)}
	sl.ctx, sl.stop = context.WithCancel(context.Background())
	return sl
}

// archive moves the replay of a match that is over out of the live folder, and seals it there. It tells the archive, if there is one, whose
// seats the match had.
func (sl *sealer) archive(log *slog.Logger, path string, subjects map[lockstep.Player]string) error {
	to := sl.replays.archived(path)
	if sl.store != nil && len(subjects) > 0 {
		if err := sl.store.Played(to, subjects); err != nil {
			return err
		}
	}
	if to != path {
		if err := replay.Replace(path, to); err != nil {
			return err
		}
		sl.replays.setLive(filepath.Base(to), false) // the list has one more
	}
	if sl.keepOpen {
		sl.handOver(log, to)
	} else {
		sl.seal(log, to)
	}
	return nil
}

// seal compresses the replay of a finished match concurrently with the running ones. It seals one replay at a time, so
// that live matches keep the remaining CPUs.
func (sl *sealer) seal(log *slog.Logger, path string) {
	sl.sealing.Go(func() {
		select {
		case sl.seals <- struct{}{}:
			defer func() { <-sl.seals }()
		case <-sl.ctx.Done():
			return
		}
		err := SealFile(sl.ctx, path, sl.key)
		if err != nil && sl.ctx.Err() == nil {
			sl.failures.Inc()
			log.Error("seal", "path", path, "err", err)
		}
		sl.replays.setLive(filepath.Base(path), false) // its size has changed
		if err == nil {
			sl.handOver(log, path)
		}
	})
}

// SealFile seals the replay of a match that is over as a server does, and signs it unless the key is nil.
func SealFile(ctx context.Context, path string, key ed25519.PrivateKey) error {
	if err := replay.SealFile(ctx, path, replay.WriterOptions{SegmentTicks: sealTicks}); err != nil || key == nil {
		return err
	}
	return replay.SignFile(path, key)
}

// handOver gives a sealed replay and the bundles of its match to the archive, if there is one.
func (sl *sealer) handOver(log *slog.Logger, path string) {
	if sl.store == nil {
		return
	}
	evidence, err := sl.replays.evidence(filepath.Base(path))
	if err != nil {
		log.Error("archive", "path", path, "err", err) // the next start hands them over
	}
	for _, p := range append(evidence, path) {
		sl.store.Add(p)
	}
}

// sealGrace is how long a seal may take to end after it was stopped.
const sealGrace = time.Second

// await waits until nothing is sealed any more, or until ctx has ended and a seal does not notice it.
func (sl *sealer) await(ctx context.Context) bool {
	sealed := make(chan struct{})
	go func() {
		sl.sealing.Wait()
		close(sealed)
	}()
	select {
	case <-sealed:
		return true
	case <-ctx.Done():
	}
	select {
	case <-sealed:
		return true
	case <-time.After(sealGrace):
		return false
	}
}

// sealTicks is the least number of ticks in a segment of a sealed replay.
const sealTicks = 600

// copyToTemporary returns a file without a name that has the bytes of r.
func copyToTemporary(r io.Reader) (*os.File, error) {
	f, err := newTemporary("")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// newTemporary returns a file without a name in a folder, or in the system's.
func newTemporary(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".samestep-*")
	if err == nil {
		os.Remove(f.Name()) // so nothing is left over, however the program ends; Windows refuses it
	}
	return f, err
}
