//go:build !js

package serving

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/desyncs"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
	"github.com/seed-49bee653/samestep/server/archive/s3"
)

// A start is what serve begins with, from its flags.
type start struct {
	games  gameset.List
	game   *gameset.Playable // of the matches
	specs  []server.MatchSpec
	policy *MatchPolicy
}

func newStart(c *cli.Context) (s start, err error) {
	if s.games, err = gameset.Hosted(c); err != nil {
		return s, err
	}
	if err := checkCompat(c, s.games[0]); err != nil {
		return s, err
	}
	if s.specs, s.game, err = startingSpecs(c, s.games); err != nil {
		return s, err
	}
	if s.policy, err = NewMatchPolicy(c, s.game); err != nil {
		return s, err
	}
	return s, s.policy.applyFlags(c, s.specs)
}

// checkServeConfig checks what serve would read, also of the logs of matches to resume, and plays no match. It opens no port, folder or storage.
func checkServeConfig(c *cli.Context) error {
	s, err := newStart(c)
	if err != nil {
		return err
	}
	log, err := NewLog(c)
	if err != nil {
		return err
	}
	stopped, err := findInterrupted(c, s.games, s.policy)
	if err != nil {
		return err
	}
	warnInterrupted(c, log)
	if err = s.check(c, stopped); err == nil {
		tellRetention(c, time.Now())
		fmt.Fprintln(c.App.Writer, "ok")
	}
	return err
}

// tellRetention says what a start now would delete from the archive, as far as the index on this machine knows.
func tellRetention(c *cli.Context, now time.Time) {
	place := c.String("archive")
	if place == "" {
		return
	}
	index := filepath.Join(place, "index.db")
	if _, err := os.Stat(index); err != nil { // the place is no folder, or has nothing yet
		index = filepath.Join(c.String("dir"), "archive.db")
	}
	d, err := archive.Preview(index, keep(c), now)
	switch {
	case err != nil:
		fmt.Fprintf(c.App.Writer, "retention: not known: %v\n", err)
	case d.Files > 0:
		fmt.Fprintf(c.App.Writer, "retention: would delete %s with %d bytes, from %s to %s, at %s\n", console.Count(d.Files, "file"), d.SizeBytes, d.First, d.Last, d.At.UTC().Format(time.RFC3339))
	}
}

// check checks a start that resumes interrupted matches.
func (s *start) check(c *cli.Context, stopped *resumption) error {
	o, _, err := serverOptions(c, s.games, stopped.with(s.specs), s.policy)
	if err != nil {
		return err
	}
	lost := stopped.check(o.Log)
	if _, err = newBinding(c); err != nil {
		return err
	}
	if err := checkArchive(c); err != nil {
		return err
	}
	if info, err := os.Stat(o.Dir); err == nil && !info.IsDir() {
		return console.Usagef("--dir: %s is not a folder", o.Dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if o.Dir != "" {
		o.Denials = server.DenialsIn(o.Dir)
	}
	o.Dir, o.Log = "", slog.New(slog.DiscardHandler)
	on, err := server.New(o)
	if err != nil {
		return err
	}
	specs := slices.DeleteFunc(s.specs, func(spec server.MatchSpec) bool { return stopped.taken[spec.Name] })
	if len(specs) > 0 { // the others differ only in their names and seeds
		_, err = on.Create(specs[0])
	}
	return errors.Join(err, on.Shutdown(c.Context), lost)
}

// checkArchive checks the flags of the archive and its environment.
func checkArchive(c *cli.Context) error {
	if _, err := archiveKey(c); err != nil {
		return err
	}
	if place := c.String("archive"); strings.HasPrefix(place, "s3:") {
		config, err := s3.FromEnvironment(place, os.Getenv)
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		store, err := s3.New(config) // connects with nothing
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		store.Close()
	}
	return nil
}

func serverOptions(c *cli.Context, games gameset.List, specs []server.MatchSpec, policy *MatchPolicy) (server.Options, reloader, error) {
	guests := c.Uint("guests")
	if err := checkBots(c, specs); err != nil {
		return server.Options{}, nil, err
	}
	if c.Bool("bundles") && !c.Bool("replays") {
		return server.Options{}, nil, console.Usagef("bundles: got it with replays: false, want it with replays")
	}
	log, err := NewLog(c)
	if err != nil {
		return server.Options{}, nil, err
	}
	o := server.Options{
		Dir: c.String("dir"), Replays: c.Bool("replays"), ReplaysHere: !c.IsSet("replays"), Bundles: c.Bool("bundles"), Origins: c.StringSlice("origin"), AllowedHosts: allowedHosts(c),
		AwaitPlayers: c.Duration("await-players"), KeepOpen: c.Bool("keep-open"),
		Log: log, NewMatch: func(body io.Reader) (server.MatchSpec, error) { return RequestedMatch(body, games, guests > 0, policy) },
	}
	o.Limits = limitsFor(c, len(specs))
	if err := setProxies(c, &o); err != nil {
		return o, nil, err
	}
	if c.Bool("explain") {
		o.OnBundle = desyncs.Explainer(c, o.Log)
	}
	if o.Durability, err = durabilityOf(c); err != nil {
		return o, nil, err
	}
	if err := SendRules(gameset.Listed(c), &o); err != nil {
		return o, nil, err
	}
	if o.Rules != nil && !console.MayCompile() {
		log.Warn("modules of rules are interpreted, many times slower: this process may not make memory executable; see MemoryDenyWriteExecute of systemd")
	}
	a, files, err := authorizer(c, specs, log)
	o.Authorizer = openTo(guests, a)
	return o, files, err
}

// checkBots refuses bots without a seat.
func checkBots(c *cli.Context, specs []server.MatchSpec) error {
	bots := c.Uint("bots")
	for i := range specs {
		if seats := specs[i].Settings.Players; specs[i].From != nil && bots > uint(seats) {
			return console.Usagef("--bots: got %d, want at most %d, the seats of --from", bots, seats)
		}
	}
	if c.String("from") == "" && bots > c.Uint("players") {
		return console.Usagef("--bots: got %d, want at most --players", bots)
	}
	return nil
}

// allowedHosts returns the names that a Host header may have.
func allowedHosts(c *cli.Context) []string {
	names := c.StringSlice("allowed-host")
	if listened, _, _ := net.SplitHostPort(c.String("listen")); listened != "" { // listen reports errors
		names = append(names, listened)
	}
	return names
}

// setProxies sets the options of proxies.
func setProxies(c *cli.Context, o *server.Options) error {
	for _, text := range c.StringSlice("trusted-proxy") {
		if text == "unix" {
			o.TrustUnix = true
			continue
		}
		p, err := netip.ParsePrefix(text)
		if a, aerr := netip.ParseAddr(text); aerr == nil {
			a = a.Unmap()
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil || p.Bits() == 0 {
			return console.Usagef("trusted-proxy: got %q, want an address, a network smaller than all addresses, or unix", text)
		}
		o.TrustedProxies = append(o.TrustedProxies, p)
	}
	o.ProxyHeader, o.ProxyProtocol = http.CanonicalHeaderKey(c.String("proxy-header")), c.Bool("proxy-protocol")
	if h := o.ProxyHeader; h != "X-Forwarded-For" && h != "Forwarded" {
		return console.Usagef("proxy-header: got %q, want X-Forwarded-For or Forwarded", h)
	}
	if o.ProxyProtocol && !o.TrustUnix && len(o.TrustedProxies) == 0 {
		return console.Usagef("proxy-protocol needs trusted-proxy")
	}
	return checkDatagrams(c)
}

// limit converts a flag to an option of the server, for which 0 is the default: it turns 0 into -1.
func limit[N uint | uint64](n, most N) int64 {
	if n == 0 {
		return -1
	}
	return int64(min(n, most))
}

// durabilityOf returns the durability of the files on this machine.
func durabilityOf(c *cli.Context) (replay.Durability, error) {
	if c.String("durability") == replicated {
		return replay.SyncInterval, nil
	}
	return replay.ParseDurability(c.String("durability"))
}

// LogFlags say what NewLog returns.
var LogFlags = []cli.Flag{logFormatFlag, logLevelFlag}

var (
	logFormatFlag = &cli.StringFlag{Name: "log-format", Value: "text", Usage: "write the log as text or json"}
	logLevelFlag  = &cli.StringFlag{Name: "log-level", Value: "info", Usage: "log lines of this `LEVEL` and above: debug, info, warn or error"}

	logFormats = []string{"text", "json"}
	logLevels  = []string{"debug", "info", "warn", "error"}
)

// NewLog returns the log of a server, which is the standard error output.
func NewLog(c *cli.Context) (*slog.Logger, error) {
	format, level := &console.Setting{Flag: logFormatFlag, Words: logFormats}, &console.Setting{Flag: logLevelFlag, Words: logLevels}
	if err := cmp.Or(format.Refuse(c), level.Refuse(c)); err != nil {
		return nil, err
	}
	o := &slog.HandlerOptions{}
	var least slog.Level
	if err := least.UnmarshalText([]byte(c.String(logLevelFlag.Name))); err != nil {
		return nil, err // it is one of logLevels
	}
	o.Level = least
	if c.String(logFormatFlag.Name) == "json" {
		return slog.New(slog.NewJSONHandler(c.App.ErrWriter, o)), nil
	}
	return slog.New(slog.NewTextHandler(c.App.ErrWriter, o)), nil
}

// LimitsOf returns the limits in the flags.
func LimitsOf(c *cli.Context) server.Limits {
	idle := c.Duration("idle")
	if idle == 0 {
		idle = -1
	}
	return server.Limits{
		MaxPerAddress: int(c.Uint("max-per-address")), MaxUnauthenticated: int(c.Uint("max-unauthenticated")),
		MaxReads: int(c.Uint("max-requests")), MaxGuesses: int(c.Uint("max-wrong-tokens")), MaxMatches: int(c.Uint("max-matches")),
		GuestMatches: int(c.Uint("guests")), GuestMatchesPerAddress: int(limit(c.Uint("guest-matches-per-address"), 1<<31-1)), GuestBots: int(limit(c.Uint("guest-bots"), 1<<31-1)),
		GuestStateBytes: int64(min(max(c.Uint64("guest-state"), 1), 1<<40)), GuestDiskBytes: int(min(max(c.Uint64("guest-disk"), 1), 1<<31-1)),
		MatchDiskBytes: limit(c.Uint64("match-disk"), 1<<62), DiskReserve: limit(c.Uint64("disk-reserve"), 1<<62), IdleMatch: idle,
		MatchLimits: &host.Limits{
			MaxSpectators: int(c.Uint("max-spectators")), GuestSeats: int(min(c.Uint("guest-seats"), lockstep.MaxPlayers)),
			InactiveGuests: lockstep.Time(cmp.Or(c.Duration("guest-inactive"), -time.Second).Microseconds()), // for a Host 0 is the default
		},
	}
}

// limitsFor returns the limits in the flags, with which some matches can begin.
func limitsFor(c *cli.Context, matches int) server.Limits {
	l := LimitsOf(c)
	l.MaxMatches = max(l.WithDefaults().MaxMatches, matches)
	return l
}
