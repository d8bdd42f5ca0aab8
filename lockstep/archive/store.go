//go:build !js

package archive

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"time"
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

// An Object is a file in a [Store].
type Object struct {
	Name      string
	SizeBytes int64
	Written   time.Time
}

// fileName is the form of the names of all files in an archive. They are names in folders and in URLs.
var fileName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,149}\.(ssr|zip|html)$`)

// kindOf returns the kind of a file by its name, or "".
func kindOf(name string) string {
	if !fileName.MatchString(name) {
		return ""
	}
	switch filepath.Ext(name) {
	case ".ssr":
		return kindReplay
	case ".zip":
		return "bundle"
	}
	return "page"
}

const kindReplay = "replay"
