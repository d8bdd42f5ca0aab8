package server

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server/internal/front"
	"github.com/seed-49bee653/samestep/server/internal/guests"
)

// Defaults of Options.
const (
	maxReads          = 50
	maxGuesses        = 20
	defaultSpectators = 64
)

// Options configure a [Server]. A zero field has the default that its comment names.
type Options struct {
	// Authorizer grants roles and seats for tokens. Nil refuses every token.
	Authorizer Authorizer
	guests     bool // whether it gives seats to guests

	// NewMatch makes the spec of a match from the body of POST /matches. An error that wraps fs.ErrNotExist says that
	// there is no such replay for MatchSpec.From, see [Server.OpenReplay]. It does not get a request for a match like another
	// one, see [Server.Like]. Only an admin's spec may have a seed if the match hides it (host.ViewPolicy.Only). Nil disables the route.
	NewMatch func(body io.Reader) (MatchSpec, error)

	// Host configures each match whose spec has no options of its own.
	Host host.Options

	// Heavy is the share of the time of the matches' ticks, in percent, in which they are compared with restored copies: none. See
	// [twin.Options]. A difference is a bundle, an event of the log and samestep_twin_differences_total.
	Heavy int

	// Observer is called with every event that the game of a match emits on the server, once for each sealed tick; also
	// in a match that [Server.Resume] continues. See host.Options.Observer, which it replaces. It is called in the match's
	// goroutine and must not block.
	Observer func(m *Match, t lockstep.Tick, event any)

	Dir            string            // folder of replays and desync bundles, see [LiveLogs]; "" writes none
	Replays        bool              // everybody may list and download the replays of finished matches
	ReplaysHere    bool              // with Replays: only clients on this machine, for others it is as without Replays
	Bundles        bool              // with Replays: everybody may also download the desync bundles of these matches
	Origins        []string          // hosts whose pages may connect from a browser, besides the server's own
	AllowedHosts   []string          // names of the server, besides loopback names, the addresses that clients connect to, and those of a Replicator with a method Hosts() []string
	TrustedProxies []netip.Prefix    // proxies in front of the server; their ProxyHeader names the client
	TrustUnix      bool              // clients over a unix socket are trusted proxies too
	ProxyHeader    string            // the header in which trusted proxies name the client, X-Forwarded-For or Forwarded: X-Forwarded-For
	ProxyProtocol  bool              // connections of trusted proxies begin with a header of the PROXY protocol, version 1 or 2
	Descriptors    int               // file descriptors that the process may have; a quarter is reserved for players: the system's limit
	AwaitPlayers   time.Duration     // a resumed match waits at most this long for the players who were connected: not at all
	MaxBundles     int               // desync bundles about one player of a match, or about its ties: 4
	OnBundle       func(path string) // called once with each bundle when it is complete, in a goroutine of its own; a match that ends waits for it

	Limits

	// Durability says when a tick is safe on disk. With [replay.SyncFrame] no client sees a tick before that; the
	// match itself does not wait.
	Durability replay.Durability

	// Replicator keeps the logs of all matches on several machines, and says when clients may see a record; Durability then
	// is only about this server's file. Nil for none.
	Replicator Replicator

	// Denials keep bans and revocations beyond this process. Nil takes those of the Replicator, if it has a method Denials, or else keeps
	// them in Dir; without either they end with the process.
	Denials Denials

	// Metrics are further ones for GET /metrics, such as those of a Replicator.
	Metrics []prometheus.Collector

	// Rules answers GET /rules/SHA256.wasm with the modules of rules that everybody may fetch, and RulesOf returns the SHA-256
	// of the one of the Game of a MatchSpec, for the views of matches, or "". ModuleOf returns that module itself, for desync
	// bundles, or nil. Nil for no modules.
	Rules    http.Handler
	RulesOf  func(*lockstep.Game) string
	ModuleOf func(*lockstep.Game) []byte

	// Archive takes over sealed replays and desync bundles. Nil leaves them in Dir.
	Archive Archive

	// SignKey signs sealed replays. Nil signs none.
	SignKey ed25519.PrivateKey

	// KeepOpen keeps the replays of finished matches as they were written, and does not compress them.
	KeepOpen bool

	Log *slog.Logger // slog.Default()
}

func (o *Options) complete() {
	o.Limits = o.Limits.WithDefaults()
	o.MaxBundles = cmp.Or(o.MaxBundles, 4)
	o.Descriptors = cmp.Or(o.Descriptors, descriptors())
	o.ProxyHeader = cmp.Or(o.ProxyHeader, front.XForwardedFor)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Authorizer == nil {
		o.Authorizer = AnyOf()
	}
	o.guests = admitsGuests(o.Authorizer)
}

// A MatchSpec describes a match to run.
type MatchSpec struct {
	Name     string
	Game     *lockstep.Game
	Settings lockstep.Settings
	Config   any // a pointer to the game's configuration

	// From is a state of another match, in which this one begins. Settings and Config may then be zero, for those of the
	// other match. Otherwise they must be the same.
	From *replay.Origin

	// Players are the only players who may take these seats of a match with From; see host.Origin.Players.
	Players []string

	// Host configures the match. Nil takes Options.Host.
	Host *host.Options

	// Bots play seats on the server, by seat; nil where people play. See host.Options.Bots. They count towards
	// Options.GuestBots if a guest starts the match.
	Bots []lockstep.Bot

	// BotKind is the name of the kind of Bots, such as their strength, for the status: whoever creates a match like this one
	// asks for it. "" is the usual kind of the server.
	BotKind string

	// Invite draws a token for each seat that no bot has, see [Match.Invitations]. The answer to an admin's POST /matches
	// always has them.
	Invite bool

	// Substitute returns bots for players whose seats are taken over, see host.Options.Substitute. With it, each seat of a
	// match that a guest starts counts as a bot. Nil takes that of Host.
	Substitute func(lockstep.Player) lockstep.Bot

	// Recorded says how the match was created, in the caller's own words, up to [record.MaxNote] bytes. It is in the log,
	// and Restore gets it back. It must have no secret.
	Recorded string

	// Restore is called by [Server.Resume] before the match runs, with the Recorded of its creation, and may change Host,
	// Bots, BotKind, Substitute, Again and OnStart. An error refuses the match. Nil for no call.
	Restore func(spec *MatchSpec, recorded string) error

	// Again gives the spec of a match like this one what Settings and Config do not say: Host, Bots, Substitute, Recorded, Restore,
	// OnStart and itself. See [Server.Like]. Nil gives it nothing.
	Again func(spec *MatchSpec)

	// OnStart is called by [Server.Create] and [Server.Resume] when the match runs; nil for no call.
	OnStart func(*Match)

	guest *guests.Usage // nil unless a guest started it
}

// Limits are the limits among the [Options] that can change while a server runs, see [Server.SetLimits].
type Limits struct {
	MaxMatches         int           // 1000
	MaxPerAddress      int           // WebSockets of one address, and connections that it may open a second (at least 64): 64
	MaxUnauthenticated int           // unauthenticated WebSockets of one address: 8
	MaxReads           int           // lists, matches and metrics that one address may read in a second: 50
	MaxGuesses         int           // wrong tokens and sessions of one address in a minute: 20
	IdleMatch          time.Duration // a match without connections ends after this: 5 m; negative: never

	// Limits of all matches that guests have started. The state's bytes are those of every copy that the server and its bots
	// simulate; memory is a multiple of them that depends on the game.
	GuestMatches           int   // matches that players without admin rights may have started over HTTP: none
	GuestMatchesPerAddress int   // 2
	GuestBots              int   // MatchSpec.Bots: 32; negative: none
	GuestStateBytes        int64 // 4 MiB
	GuestDiskBytes         int   // by which their replays grow in a day; beyond it guests start no match: 1 GiB

	// MatchLimits are the limits of each match, in place of those of its host.Options. Nil: those.
	MatchLimits *host.Limits

	// MatchDiskBytes is the largest replay of a match: at this size the match ends, and its replay is complete.
	// All desync bundles of a match together have the same limit. 4 GiB; negative: no limit.
	MatchDiskBytes int64

	// DiskReserve is the number of free bytes below which a server is not ready, and creates no match over HTTP: 64 MiB;
	// negative: none.
	DiskReserve int64
}

// WithDefaults returns the limits by which a server goes that is given these: 0 is the default of most.
func (l Limits) WithDefaults() Limits {
	l.MaxMatches = cmp.Or(l.MaxMatches, 1000)
	l.MaxPerAddress = cmp.Or(l.MaxPerAddress, 64)
	l.MaxUnauthenticated = cmp.Or(l.MaxUnauthenticated, 8)
	l.MaxReads = cmp.Or(l.MaxReads, maxReads)
	l.MaxGuesses = cmp.Or(l.MaxGuesses, maxGuesses)
	l.IdleMatch = cmp.Or(l.IdleMatch, 5*time.Minute)
	l.GuestMatchesPerAddress = cmp.Or(l.GuestMatchesPerAddress, 2)
	l.GuestBots = max(0, cmp.Or(l.GuestBots, 32))
	l.GuestStateBytes = cmp.Or(l.GuestStateBytes, 4<<20)
	l.GuestDiskBytes = cmp.Or(l.GuestDiskBytes, 1<<30)
	l.MatchDiskBytes = cmp.Or(l.MatchDiskBytes, 4<<30) // a player who sends as many bytes as the rates allow reaches it after 18 hours
	l.DiskReserve = cmp.Or(l.DiskReserve, 64<<20)
	return l
}

// CheckHost returns an error unless a name can be among [Options.AllowedHosts].
func CheckHost(name string) error {
	_, err := front.NewHosts([]string{name}, nil)
	return err
}

// Errors of an [Archive].
var (
	// ErrArchived: the archive has no such file. It wraps [fs.ErrNotExist].
	ErrArchived = fmt.Errorf("server: no such file in the archive: %w", fs.ErrNotExist)

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

// ErrNotOwner is wrapped by the error of a [ReplicatedLog] that another server has taken over.
var ErrNotOwner = errors.New("server: another server has the match")

// A Replicator keeps the logs of matches on several machines; the package cluster has one. With it no client
// sees a record before those machines have it, and a server that is lost leaves all that anybody saw. It must be safe
// for concurrent use.
type Replicator interface {
	// Open returns the log of a match. Of a match that [Server.Create] begins it is new, or the error wraps [ErrExists].
	// Of one that [Server.Resume] continues it has the records of the file already.
	Open(name string, h *lockstep.Header) (ReplicatedLog, error)

	// Check returns why no match can begin now, in words for everybody, or nil.
	Check() error
}

// A ReplicatedLog is the log of one match on several machines. Append, Commit and Err return at once. Append does not
// fail, but what comes after an error is lost.
type ReplicatedLog interface {
	lockstep.Log

	// Commit has done called, from another goroutine, when a majority of the machines has all records so far. It is not
	// called after an error.
	Commit(done func())

	// Err returns why no more records are stored, or nil: [ErrNotOwner], or a log that was away for too long.
	Err() error

	// Flush waits a short time until all records so far are stored.
	Flush() error

	// Release is called last for a match that is not over: another server may continue it. why says what kept this server
	// from doing so, or is nil.
	Release(why error)

	// Drop is called last for a match that is over, and whose replay is complete on this server: nobody needs the log.
	Drop()
}
