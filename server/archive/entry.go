//go:build !js

package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// maxDescription is the size limit of a description, in bytes.
const maxDescription = 1 << 20

// An entry describes a file, in the index and in NAME.json of the store.
type entry struct {
	server.Archived
	Subjects map[lockstep.Player]string `json:"subjects,omitempty"`

	here bool // it is of a file in the server's folder
}

// archived returns the description for the server.
func (e *entry) archived() server.Archived {
	a := e.Archived
	a.Subjects = e.Subjects
	return a
}

// descriptionName is the name of a file's description in the store.
func descriptionName(name string) string { return name + ".json" }

// ownersPath is the path of the subjects of a replay's seats, until it is archived.
func ownersPath(path string) string { return strings.TrimSuffix(path, ".ssr") + ".owners" }

func readOwners(path string) (map[lockstep.Player]string, error) {
	f, err := files.OpenNoFollow(ownersPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it had none
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var subjects map[lockstep.Player]string
	err = json.NewDecoder(io.LimitReader(f, maxDescription)).Decode(&subjects)
	return subjects, err
}

// describeFile describes a file that waits for the store, and reports whether it is a sealed replay. It returns nil for
// a replay that a server writes.
func describeFile(path string) (e *entry, sealed bool, err error) {
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if written, err := replay.Locked(f); written || err != nil {
		return nil, false, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if e, sealed, err = describe(filepath.Base(path), f, info.Size(), info.ModTime()); err != nil {
		return nil, false, err
	}
	e.here = true
	e.Subjects, err = readOwners(path)
	return e, sealed, err
}

// describe describes a file by its name and its content, and reports whether it is a sealed replay.
func describe(name string, content io.ReaderAt, size int64, written time.Time) (e *entry, sealed bool, err error) {
	e = describeName(name)
	e.SizeBytes, e.Ended = size, written.UTC().Truncate(time.Second)
	if e.Kind == kindBundle {
		if b, err := replay.OpenBundle(content, size); err == nil {
			e.ID = b.Manifest.Match
		}
	}
	if e.Kind != kindReplay {
		return e, false, nil
	}
	r, err := replay.NewReader(content, size)
	if err != nil {
		return nil, false, err
	}
	info, err := replay.ReadInfo(r)
	if err == nil && !info.Ended {
		err = errNotOver
	}
	if err != nil {
		return nil, false, err
	}
	e.describeMatch(info)
	return e, info.Segments > 0, nil
}

// describeName describes a file by its name or path alone.
func describeName(path string) *entry {
	e := &entry{}
	e.Name = filepath.Base(path)
	e.Kind, e.Match = kindOf(e.Name), stem(replayOf(e.Name))
	if at := len(e.Match) - idDigits - 1; at > 0 && e.Match[at] == '-' {
		e.Match, e.ID = e.Match[:at], e.Match[at+1:]
	}
	return e
}

func (e *entry) describeMatch(info *replay.Info) {
	e.ID, e.Game, e.Build = info.Header.Match.String(), info.Header.Game, info.Header.Build
	e.Ticks, e.Reason, e.EndedByRules, e.Result = info.Ticks, info.Reason, info.ByRules, info.Result
	if info.Signed {
		e.Signer = info.Signer
	}
	for _, p := range slices.Sorted(maps.Keys(info.Names)) {
		if p < lockstep.MaxPlayers {
			did := info.Player(p)
			e.Players = append(e.Players, server.ArchivedPlayer{Seat: p, Name: info.Names[p], TakenOver: did.TakenOver, Inactive: did.Inactive})
		}
	}
}

// errNotOver: the replay has no end, so its match can be resumed.
var errNotOver = errors.New("the match of the replay is not over")

// idDigits is the number of digits of a match's ID in the name of its replay.
const idDigits = 8

// describeStored describes a file that the store has listed.
func describeStored(ctx context.Context, store Store, o Object) (e *entry, err error) {
	err = soon(ctx, func() error {
		e, err = storedNow(ctx, store, o)
		return err
	})
	return e, err
}

// soon calls f until it finds the file that it reads. A copy of the store that is behind may not have it yet.
func soon(ctx context.Context, f func() error) error {
	for wait := 50 * time.Millisecond; ; wait *= 4 {
		if err := f(); !errors.Is(err, fs.ErrNotExist) || wait > time.Second || ctx.Err() != nil {
			return err
		}
		sleep(ctx, wait, nil)
	}
}

// storedNow describes a file of the store: by its description, or by its content if that is missing or of another file.
func storedNow(ctx context.Context, store Store, o Object) (*entry, error) {
	ctx, cancel := within(ctx, o.SizeBytes)
	defer cancel()
	described := func() (*entry, bool) {
		e, err := readDescription(ctx, store, o.Name)
		return e, err == nil && e.SizeBytes == o.SizeBytes
	}
	if e, ok := described(); ok {
		return e, nil
	}
	f, err := store.Open(ctx, o.Name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if e, ok := described(); ok { // it is written before the file, so it may have come meanwhile
		return e, nil
	}
	e, err := describeStream(o, f)
	if err != nil {
		return nil, err
	}
	e.Stored = true
	return e, writeDescription(ctx, store, e)
}

// readDescription reads a file's description from the store.
func readDescription(ctx context.Context, store Store, name string) (*entry, error) {
	f, err := store.Open(ctx, descriptionName(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e := &entry{}
	if err := json.NewDecoder(io.LimitReader(f, maxDescription)).Decode(e); err != nil {
		return nil, err
	}
	if e.Name != name || kindOf(name) == "" {
		return nil, fmt.Errorf("archive: %s describes %q", descriptionName(name), e.Name)
	}
	e.Stored = true
	return e, nil
}

func writeDescription(ctx context.Context, store Store, e *entry) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return store.Write(ctx, descriptionName(e.Name), b)
}

// describeStream describes a file of the store. A store elsewhere is read once, into a temporary file.
func describeStream(o Object, f io.ReadSeeker) (*entry, error) {
	if at, ok := f.(*os.File); ok {
		e, _, err := describe(o.Name, at, o.SizeBytes, o.Written)
		return e, err
	}
	temp, err := os.CreateTemp("", "samestep-*.part")
	if err != nil {
		return nil, err
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	if _, err := io.Copy(temp, f); err != nil {
		return nil, err
	}
	e, _, err := describe(o.Name, temp, o.SizeBytes, o.Written)
	return e, err
}
