//go:build !js

// Package parts has the parts of verbs that a program has only if it imports their packages, because each needs modules that few games use.
// A package such as tool/s3 fills its variable when the program starts.
package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/server/archive"
)

// The parts, nil in a program without them.
var (
	S3     func(place string) (Store, error)                      // opens an archive at s3://BUCKET/PREFIX; it connects with nothing
	MCAP   func(io.Writer) (MCAPFile, error)                      // begins a file
	Screen func(ctx context.Context, w Watching) (*Report, error) // shows reports on the whole terminal until the user quits; returns the last one, or nil
)

// Missing returns the error of a verb that needs a part that its program does not have. name is that of the part's package.
func Missing(what, name string) error {
	return fmt.Errorf("%s: this program leaves that out; add the line import _ %q to main.go, and run go mod tidy", what, console.Module+"/cmd/samestep/tool/"+name)
}

// A Store is an archive that somebody closes.
type Store interface {
	archive.Store
	Close()
}

// An MCAPFile is a file in the format MCAP that is being written. Schemas and channels are numbered from 1.
type MCAPFile interface {
	Schema(id uint16, name string, json []byte) error
	Channel(id, schema uint16, topic string) error
	Message(channel uint16, sequence uint32, nanoseconds uint64, json []byte) error
	Metadata(name string, values map[string]string) error
	Close() error
}

// Watching is what a screen shows.
type Watching struct {
	Program string // its name
	Look    func(context.Context) (*Report, error)
	Every   time.Duration // between two looks
	Out     io.Writer     // the terminal
}

// A Report is the result of one look at a match or a server, in all forms of output.
type Report struct {
	Title string
	Facts []Fact
	// A table with a row for each player or match. The last column is a sparkline.
	Columns []string
	Rows    [][]string
	Line    string // a summary
	Values  any    // for JSON
	Over    bool   // nothing will change any more
	Rests   bool   // nothing changes until a server resumes the match
}

// A Fact is a value with a name. A wrong one is highlighted.
type Fact struct {
	Name, Value string
	Wrong       bool
}

// ErrUnseen is wrapped by errors of a look that may succeed the next time.
var ErrUnseen = errors.New("currently unavailable")
