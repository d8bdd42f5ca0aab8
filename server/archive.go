package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Errors of an [Archive].
var (
	// ErrArchived: the archive has no such file.
	ErrArchived = errors.New("server: no such file in the archive")

	// ErrQuery: a search that no archive understands.
	ErrQuery = errors.New("server: bad search")
)

// An Archive keeps the replays and the desync bundles of matches that are over; the package server/archive has one.
// It must be safe for concurrent use.
type Archive interface {
	// Played remembers the subjects of the seats of a match, by the path of its replay. They may read it. It is called
	// before Add, and what it was told survives a crash.
	Played(path string, subjects map[lockstep.Player]string) error

	// Add hands over a file that nobody writes any more: a sealed replay, a bundle or the page about one. It returns
	// at once. The file stays at its path until the archive has it for certain.
	Add(path string)

	// Find returns at most [MaxListed] files, the latest first. A value for ArchiveQuery.After is returned if there may
	// be more: it holds although files are deleted.
	Find(ctx context.Context, q ArchiveQuery) (found []Archived, next string, err error)

	// Get returns a file by its name, or ErrArchived.
	Get(ctx context.Context, name string) (Archived, error)

	// Open opens a file by its name. Its error is ErrArchived if there is none.
	Open(ctx context.Context, name string) (io.ReadSeekCloser, error)

	// Delete removes a match, by the name of its replay, with its bundles and their pages, or another file. Nobody gets them
	// afterwards. Its error is ErrArchived if there is none.
	Delete(ctx context.Context, name string) error
}

// An Archived describes a file in an [Archive]. A bundle has only the first eight fields.
type Archived struct {
	Name      string    `json:"name"` // of the file
	SizeBytes int64     `json:"size_bytes,string"`
	Ended     time.Time `json:"ended"`          // time of the last write
	Kind      string    `json:"kind,omitempty"` // replay, bundle or page
	Match     string    `json:"match,omitempty"`
	ID        string    `json:"id,omitempty"`     // of the match; the first 8 digits for a bundle
	Stored    bool      `json:"stored,omitempty"` // false while the file waits in the server's folder
	Deletes   time.Time `json:"deletes,omitzero"` // when a lower limit of what to keep deletes it, unless the limit is raised before

	Game         string           `json:"game,omitempty"`
	Build        string           `json:"build,omitempty"`
	Ticks        lockstep.Tick    `json:"ticks,omitempty"`
	Reason       string           `json:"reason,omitempty"`
	EndedByRules bool             `json:"ended_by_rules,omitempty"`
	Result       json.RawMessage  `json:"result,omitempty"`
	Players      []ArchivedPlayer `json:"players,omitempty"`
	Signer       string           `json:"signer,omitempty"` // public key, in hexadecimal digits

	// Subjects are the subjects of the seats. They are not public.
	Subjects map[lockstep.Player]string `json:"-"`
}

// An ArchivedPlayer is a player of an archived match.
type ArchivedPlayer struct {
	Seat lockstep.Player `json:"seat"`
	Name string          `json:"name"`

	TakenOver lockstep.Tick `json:"taken_over,omitempty"` // ticks in which the seat was taken over
	Inactive  int           `json:"inactive,omitempty"`   // how often the player gave no command for a long time
}

// An ArchiveQuery says which files of an [Archive] are wanted. Each zero field admits all.
type ArchiveQuery struct {
	Kind    string // replay if empty
	Player  string // the name of a player, in upper or lower case
	Subject string // of a seat
	Match   string
	Game    string
	Build   string

	// Result is FIELD:VALUE for a field of the rules' result, such as winner:1 or score.red:10, or else a part of the
	// reason why the match ended.
	Result string

	Since, Until time.Time // bounds of Ended; Until is excluded
	After        string    // what the last answer ended with: a [Cursor], or the name of a file that is there
}
