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
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/desyncs"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
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
	if s.policy, err = newMatchPolicy(c, s.game); err != nil {
		return s, err
	}
	return s, s.policy.applyFlags(c, s.specs)
}

// checkServeConfig checks what serve would read, also of the logs of matches to resume, and plays no match. It opens no port, folder or
// storage.
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
	if err := s.check(c, stopped); err != nil {
		return err
	}
	if place := c.String("archive"); place != "" { // what a start now would delete, as far as the index on this machine knows
		index := filepath.Join(place, "index.db")
		if _, err := os.Stat(index); err != nil { // the place is no folder, or has nothing yet
			index = filepath.Join(c.String("dir"), "archive.db")
		}
		d, err := archive.Preview(index, keep(c), time.Now())
		if err != nil {
			fmt.Fprintf(c.App.Writer, "retention: unknown: %v\n", err)
		} else if d.Files > 0 {
			fmt.Fprintf(c.App.Writer, "retention: would delete %s with %d bytes, from %s to %s, at %s\n", console.Count(d.Files, "file"), d.SizeBytes, d.First, d.Last, d.At.UTC().Format(time.RFC3339))
		}
	}
	return nil
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
	if _, err := archiveKey(c); err != nil {
		return err
	}
	if place := c.String("archive"); strings.HasPrefix(place, "s3:") {
		store, err := openS3(place) // connects with nothing
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		store.Close()
	}
	if info, err := os.Stat(o.Dir); err == nil && !info.IsDir() {
		return console.Wrongf(c, "dir", "%s is not a folder", o.Dir)
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
		err = refusedByGame(c, err)
	}
	return errors.Join(err, on.Shutdown(c.Context), lost)
}

// refusedByGame returns the error of a match that is created from the flags. What the game refuses is wrong there, such as the number of
// players, unless it is in the file of --config.
func refusedByGame(c *cli.Context, err error) error {
	if refused := (*lockstep.ConfigError)(nil); errors.As(err, &refused) && c.String(gameset.ConfigFlag.Name) == "" {
		return console.Usagef("%v", err)
	}
	return err
}

func serverOptions(c *cli.Context, games gameset.List, specs []server.MatchSpec, policy *MatchPolicy) (server.Options, reloader, error) {
	guests := c.Uint("guests")
	bots := c.Uint("bots")
	for i := range specs {
		if seats := specs[i].Settings.Players; specs[i].From != nil && bots > uint(seats) {
			return server.Options{}, nil, console.Wrongf(c, "bots", "got %d, want at most %d, the seats of --from", bots, seats)
		}
	}
	if c.String("from") == "" && bots > c.Uint("players") {
		return server.Options{}, nil, console.Wrongf(c, "bots", "got %d, want at most --players", bots)
	}
	if c.Bool("bundles") && !c.Bool("replays") {
		return server.Options{}, nil, console.Wrongf(c, "bundles", "needs replays")
	}
	log, err := NewLog(c)
	if err != nil {
		return server.Options{}, nil, err
	}
	o := server.Options{
		Dir: c.String("dir"), Replays: c.Bool("replays"), ReplaysHere: !c.IsSet("replays"), Bundles: c.Bool("bundles"), Origins: c.StringSlice("origin"), AllowedHosts: c.StringSlice("allowed-host"),
		AwaitPlayers: c.Duration("await-players"), KeepOpen: c.Bool("keep-open"),
		Log: log, NewMatch: func(body io.Reader) (server.MatchSpec, error) { return RequestedMatch(body, games, guests > 0, policy) },
	}
	if listened, _, _ := net.SplitHostPort(c.String("listen")); listened != "" { // listen reports errors
		o.AllowedHosts = append(o.AllowedHosts, listened)
	}
	o.Limits = limitsOf(c, len(specs))
	if err := setProxies(c, &o); err != nil {
		return o, nil, err
	}
	o.Heavy = console.Heavy(c)
	if c.Bool("explain") {
		o.OnBundle = desyncs.Explainer(c, o.Log, gameset.StartsItself())
	}
	if o.Durability = replay.SyncInterval; c.String("durability") != replicated {
		if o.Durability, err = replay.ParseDurability(c.String("durability")); err != nil {
			return o, nil, err
		}
	}
	if err := SendRules(gameset.Listed(c), &o); err != nil {
		return o, nil, err
	}
	if o.Rules != nil && !console.MayCompile() {
		log.Warn("modules of rules are interpreted, many times slower: this process may not make memory executable; see MemoryDenyWriteExecute of systemd")
	}
	a, files, err := authorizer(c, specs, log)
	if o.Authorizer = a; guests > 0 {
		o.Authorizer = server.AnyOf(a, server.Guests{})
	}
	return o, files, err
}

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
			return console.Wrongf(c, "trusted-proxy", "got %q, want an address, a network such as 10.0.0.0/8, or unix", text)
		}
		o.TrustedProxies = append(o.TrustedProxies, p)
	}
	o.ProxyHeader, o.ProxyProtocol = http.CanonicalHeaderKey(c.String("proxy-header")), c.Bool("proxy-protocol")
	if h := o.ProxyHeader; h != "X-Forwarded-For" && h != "Forwarded" {
		return console.Wrongf(c, "proxy-header", "got %q, want X-Forwarded-For or Forwarded", h)
	}
	if o.ProxyProtocol && !o.TrustUnix && len(o.TrustedProxies) == 0 {
		return console.Wrongf(c, "proxy-protocol", "needs trusted-proxy")
	}
	if c.String("datagrams-public") != "" && datagramAddress(c) == "off" {
		return console.Wrongf(c, "datagrams-public", "needs datagrams with an address")
	}
	return nil
}

// limit converts a flag to an option of the server, for which 0 is the default: it turns 0 into -1.
func limit[N uint | uint64](n, most N) int64 {
	if n == 0 {
		return -1
	}
	return int64(min(n, most))
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
	var least slog.Level
	if err := least.UnmarshalText([]byte(c.String(logLevelFlag.Name))); err != nil {
		return nil, err // it is one of logLevels
	}
	o := &slog.HandlerOptions{Level: least}
	if c.String(logFormatFlag.Name) == "json" {
		return slog.New(slog.NewJSONHandler(c.App.ErrWriter, o)), nil
	}
	return slog.New(slog.NewTextHandler(c.App.ErrWriter, o)), nil
}

// limitsOf returns the limits in the flags, with which so many matches can begin.
func limitsOf(c *cli.Context, matches int) server.Limits {
	l := server.Limits{
		MaxPerAddress: int(c.Uint("max-per-address")), MaxUnauthenticated: int(c.Uint("max-unauthenticated")),
		MaxReads: int(c.Uint("max-requests")), MaxGuesses: int(c.Uint("max-wrong-tokens")), MaxMatches: int(c.Uint("max-matches")),
		GuestMatches: int(c.Uint("guests")), GuestMatchesPerAddress: int(limit(c.Uint("guest-matches-per-address"), 1<<31-1)), GuestBots: int(limit(c.Uint("guest-bots"), 1<<31-1)),
		GuestStateBytes: int64(min(max(c.Uint64("guest-state"), 1), 1<<40)), GuestDiskBytes: int(min(max(c.Uint64("guest-disk"), 1), 1<<31-1)),
		MatchDiskBytes: limit(c.Uint64("match-disk"), 1<<62), DiskReserve: limit(c.Uint64("disk-reserve"), 1<<62), IdleMatch: cmp.Or(c.Duration("idle"), -1),
		MatchLimits: &host.Limits{
			MaxSpectators: int(c.Uint("max-spectators")), GuestSeats: int(min(c.Uint("guest-seats"), lockstep.MaxPlayers)),
			InactiveGuests: given(c, "guest-inactive"),
		},
	}
	l.MaxMatches = max(l.WithDefaults().MaxMatches, matches)
	return l
}

// A resumption has the matches whose logs a crash left open.
type resumption struct {
	found []server.Interrupted
	taken map[string]bool // names of matches that have a log, also one that cannot be resumed
}

// findInterrupted finds the live logs of the games' matches. It reads their headers only.
func findInterrupted(c *cli.Context, games gameset.List, policy *MatchPolicy) (*resumption, error) {
	r := &resumption{taken: make(map[string]bool)}
	dir := c.String("dir")
	if dir == "" || !c.Bool("resume") {
		return r, nil
	}
	paths, err := server.LiveLogs(dir)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		spec, err := interruptedMatch(c, path, games, policy)
		r.taken[server.MatchOfLog(path)] = !errors.Is(err, server.ErrNeverBegan)
		r.found = append(r.found, server.Interrupted{Path: path, Spec: spec, Err: err})
	}
	return r, nil
}

// check returns why a start could not resume the matches, as far as their headers and assets tell.
func (r *resumption) check(log *slog.Logger) (all error) {
	for _, one := range r.found {
		err := one.Err
		if err == nil {
			err = server.CheckLog(one.Path, one.Spec.Game)
		}
		switch {
		case errors.Is(err, server.ErrNeverBegan): // a start begins the match anew
			logged.Match(log, server.MatchOfLog(one.Path), "").Warn("match cannot be resumed", "path", one.Path, "err", err)
		case err != nil:
			all = errors.Join(all, fmt.Errorf("match %s cannot be resumed: %s: %w", server.MatchOfLog(one.Path), one.Path, err))
		}
	}
	return all
}

// warnInterrupted warns of matches in --dir that could be resumed, and are not.
func warnInterrupted(c *cli.Context, log *slog.Logger) {
	live := filepath.Join(c.String("dir"), replays.LiveFolder)
	paths, _ := filepath.Glob(filepath.Join(live, "*"+replays.ReplayExtension)) // the pattern is well-formed
	switch {
	case c.String("dir") == "" || c.Bool("resume") || len(paths) == 0:
	case c.String("durability") == replicated:
		log.Info("left-over files of matches: the cluster resumes these matches, and removes the files of those that another server has", "matches", len(paths), "folder", live)
	default:
		log.Warn("interrupted matches are not resumed, and new matches take their names; --resume resumes them", "matches", len(paths), "folder", live)
	}
}

// hostedOf returns the game of a log: one of games, or else a module of --rules. So a match goes on under the rules of its own build.
func hostedOf(c *cli.Context, games gameset.List, h *lockstep.Header, rules *replay.Rules) (*gameset.Playable, error) {
	g, err := games.OfLog(h, rules)
	m := gameset.ModulesOf(c)
	if err == nil || m == nil {
		return g, err
	}
	if rules != nil {
		return m.Hosted(h, rules)
	}
	if found, err := m.Find(func(g *gameset.Playable) bool { return g.CheckIdentity(h) == nil }); found != nil || err != nil {
		return found, err
	}
	return g, err
}

func interruptedMatch(c *cli.Context, path string, games gameset.List, policy *MatchPolicy) (spec server.MatchSpec, err error) {
	f, err := replay.OpenNoFollow(path)
	if err != nil {
		return spec, err
	}
	defer f.Close()
	h, err := f.Header()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = server.ErrNeverBegan
	}
	if err != nil {
		return spec, err
	}
	rules, err := gameset.RulesIn(f)
	if err != nil {
		return spec, err
	}
	g, err := hostedOf(c, games, h, rules)
	if err != nil {
		return spec, err
	}
	spec.Name, spec.Game, spec.Settings = server.MatchOfLog(path), g.Game, h.Settings
	policy.Of(g).apply(&spec, c.Uint("bots"))
	return spec, nil
}

// with returns the specs of the matches, and those of fresh ones of other names.
func (r *resumption) with(fresh []server.MatchSpec) (all []server.MatchSpec) {
	for _, one := range r.found {
		if one.Err == nil {
			all = append(all, one.Spec)
		}
	}
	for _, spec := range fresh {
		if !r.taken[spec.Name] {
			all = append(all, spec)
		}
	}
	return all
}

// start resumes the matches in the background, and prints the name of each. If one is over, it creates the match of that name in fresh.
func (r *resumption) start(c *cli.Context, s *server.Server, log *slog.Logger, fresh []server.MatchSpec) {
	var printing sync.Mutex
	s.Recover(r.found, func(one server.Interrupted, m *server.Match, err error) {
		printing.Lock()
		defer printing.Unlock()
		if errors.Is(err, server.ErrNotInterrupted) {
			for _, spec := range fresh {
				if spec.Name != one.Spec.Name {
					continue
				}
				if _, err := s.Create(spec); err != nil {
					logged.Match(log, spec.Name, "").Error("match not created", "err", err)
				}
			}
		}
		if err == nil { // otherwise the server has logged it
			how := ""
			if m.Status().EndedByRules {
				how = ", where its rules ended it"
			}
			fmt.Fprintf(c.App.Writer, "resumed %s after tick %d%s\n", m.Name(), m.Status().Tick, how)
		}
	})
}

// replicated is the --durability with which an extension keeps the logs of matches on several machines.
const replicated = "replicated"
