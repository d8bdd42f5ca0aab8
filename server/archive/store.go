//go:build !js

package archive

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"time"

	"github.com/seed-49bee653/samestep/server"
)

// A Store keeps files by their names. Each method is safe for concurrent use. A file that does not exist is
// [fs.ErrNotExist].
type Store interface {
	// Put stores the file at a path. When it returns nil, the store has the whole file, also after a crash. The file at
	// the path may be gone. After an error it is still there. Put replaces a file of the same name.
	Put(ctx context.Context, name, path string) error

	// Write stores bytes as Put does.
	Write(ctx context.Context, name string, content []byte) error

	// Open opens a file. Its size is where it ends.
	Open(ctx context.Context, name string) (io.ReadSeekCloser, error)

	// Delete removes a file, if it exists.
	Delete(ctx context.Context, name string) error

	// List calls f with every file until f returns an error.
	List(ctx context.Context, f func(Object) error) error
}

// A Journal is a [Store] that knows what has changed in it, so that an [Archive] need not list it again and again.
type Journal interface {
	Store

	// Mark returns a mark of what the store has now.
	Mark(ctx context.Context) (string, error)

	// Changes calls f with each file that was stored or deleted since a mark, in the order of their last changes, until f
	// returns an error. Its error is ErrMark for a mark that the store does not know, for example because it was restored.
	Changes(ctx context.Context, mark string, f func(Change) error) error
}

// A Cleaner is a [Store] in which crashes leave what is no file but takes room.
type Cleaner interface {
	Store

	// Clean removes what is certainly of no use, and returns how much that was. An [Archive] that follows others calls it at its
	// start and then once a day.
	Clean(ctx context.Context) (removed int, err error)
}

// A Change says that a file was stored or deleted.
type Change struct {
	Object
	Deleted bool   // only the name of the object is known then
	Mark    string // of the store after this change
}

// ErrRefused is wrapped by the errors of a [Store] that does not take a file and will not take it later either, such as one that is
// larger than it allows. The file is set aside and the others are stored. Any other error is of a store that is away.
var ErrRefused = errors.New("archive: the file is refused")

// ErrMark: what has changed since then is not known, so the store must be listed again.
var ErrMark = errors.New("archive: the store does not know this mark")

// An Object is a file in a [Store].
type Object struct {
	Name      string
	SizeBytes int64
	Written   time.Time
}

// fileName is the form of the names of all files in an archive. They are names in folders and in URLs.
var fileName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,149}\.(ssr|zip|html)$`)

// kindOf returns the kind of a file by its name, or "". Bundles and pages have the name of a replay in theirs; other files of their kinds
// are somebody else's.
func kindOf(name string) string {
	if !fileName.MatchString(name) || filepath.Ext(name) != ".ssr" && server.ReplayOf(name) == "" {
		return ""
	}
	switch filepath.Ext(name) {
	case ".ssr":
		return kindReplay
	case ".zip":
		return kindBundle
	}
	return kindPage
}

// The kinds of files.
const (
	kindReplay = "replay"
	kindBundle = "bundle"
	kindPage   = "page"
)
