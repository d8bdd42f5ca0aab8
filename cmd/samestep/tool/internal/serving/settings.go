//go:build !js

package serving

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

var checkConfigFlag = &cli.BoolFlag{Name: "check-config", Usage: "only check the settings and the files that they name, and print ok"}

// serveSettings returns the settings of serve in the order of the help and of --print-settings.
func serveSettings() []*console.Setting {
	return slices.Concat(
		grouped("Address",
			&console.Setting{Flag: &cli.StringFlag{Name: "listen", Value: "127.0.0.1:8766", Usage: "`ADDRESS` to listen on; port 0 is any free port; unix:PATH is a unix socket, and systemd the socket of a unit"}, Where: console.Anywhere, Check: console.Address("unix:PATH", "systemd")},
			&console.Setting{Flag: &cli.StringFlag{Name: "admin-listen", Usage: "serve the admin API, /metrics and Go's profiles on `ADDRESS` instead of --listen; without TLS and base-path"}, Where: console.Anywhere, Check: console.Address("", "unix:PATH", "systemd")},
			&console.Setting{Flag: &cli.StringFlag{Name: "tls-cert", Usage: "`FILE` with a certificate"}, Where: console.Anywhere},
			&console.Setting{Flag: &cli.StringFlag{Name: "tls-key", Usage: "`FILE` with its key"}, Where: console.Anywhere},
			&console.Setting{Flag: &cli.StringFlag{Name: "base-path", Value: "/", Usage: "serve everything below `PATH`, such as /game/, behind a proxy that passes it on"}},
			&console.Setting{Flag: &cli.BoolFlag{Name: "web", Value: true, Usage: "serve the game's page at /, to play and to watch replays in a browser"}},
			&console.Setting{Flag: &cli.StringFlag{Name: "datagrams", Usage: "accept datagrams (WebTransport) on the UDP `ADDRESS`, so that a lost packet delays nobody; off: none", DefaultText: "that of listen; off with trusted-proxy"}, Check: console.Address("", "off")},
			&console.Setting{Flag: &cli.StringFlag{Name: "datagrams-public", Usage: "`HOST:PORT` at which players reach datagrams if it is not that address, such as a load balancer's"}, Check: console.Address("")},
			&console.Setting{Flag: &cli.StringSliceFlag{Name: "allowed-host", Usage: "accept `NAME` in the Host header of requests, besides the host of listen, localhost and the address of the connection; servers behind a proxy need this"}, Check: func(c *cli.Context, name string) error {
				for _, text := range c.StringSlice(name) {
					if err := server.CheckHost(text); err != nil {
						return console.Wrongf(c, name, "%v", err)
					}
				}
				return nil
			}},
			&console.Setting{Flag: &cli.StringSliceFlag{Name: "origin", Usage: "also accept browsers whose page is from `HOST`"}},
			&console.Setting{Flag: &cli.StringSliceFlag{Name: "trusted-proxy", Usage: "`ADDRESS` or network, such as 10.0.0.0/8, of proxies in front of this server, which name their client; without it all clients of a proxy share its limits; unix: those that connect over a unix socket"}},
			&console.Setting{Flag: &cli.StringFlag{Name: "proxy-header", Value: "X-Forwarded-For", Usage: "the header in which trusted proxies name the client: X-Forwarded-For or Forwarded"}},
			&console.Setting{Flag: &cli.BoolFlag{Name: "proxy-protocol", Usage: "each connection of a trusted proxy begins with a header of the PROXY protocol, which names the client"}},
		),
		grouped("Matches",
			&console.Setting{Flag: gameset.GameFlag, Where: console.Anywhere},
			&console.Setting{Flag: console.ListFrom(gameset.RulesFlag), Where: console.Anywhere},
			&console.Setting{Flag: gameset.ConfigFlag, Where: console.Anywhere},
			&console.Setting{Flag: &cli.UintFlag{Name: "players", Value: 4, Usage: "seats of a match"}, Where: console.Anywhere, Check: console.Within[uint](1, lockstep.MaxPlayers)},
			&console.Setting{Flag: &cli.UintFlag{Name: "matches", Value: 1, Usage: "create `N` matches, named match-1, match-2, …; admins create more over HTTP"}, Where: console.Anywhere, Check: console.Within[uint](0, 100000)},
			&console.Setting{Flag: &cli.UintFlag{Name: "bots", Usage: "give the last `N` seats of each match to bots"}, Where: console.Anywhere},
			&console.Setting{Flag: &cli.StringFlag{Name: "tick-rate", Usage: "ticks per second, 1 to 1000, or the `TIME` of a tick, such as 250ms or 10s", DefaultText: "as the game has it, usually 20"}, Where: console.Anywhere, Check: func(c *cli.Context, name string) error {
				if c.IsSet(name) && periodOf(c) == 0 {
					return console.Wrongf(c, name, "got %q, want 1 to %d ticks per second, or a time of %v to %v for each", c.String(name), maxTickRate,
						minTickMicros*time.Microsecond, maxTickMicros*time.Microsecond)
				}
				return nil
			}},
			&console.Setting{Flag: &cli.StringFlag{Name: "from", Usage: "begin the matches in the state of a replay after a tick: `REPLAY[@TICK]`, or a time such as @20m; without either, after the last tick; they have the settings and the configuration of the replay"}, Where: console.Anywhere},
			&console.Setting{Flag: &cli.StringSliceFlag{Name: "seat", Usage: "with from: keep a seat for the player with this name or subject in the tokens, as `SEAT=NAME`, whatever seat the token has"}},
			&console.Setting{Flag: gameset.AssetsFlag},
			&console.Setting{Flag: gameset.ScenarioFlag},
			&console.Setting{Flag: gameset.BotFlag},
			&console.Setting{Flag: &cli.Uint64Flag{Name: "seed", Usage: "seed of the first match; each further match has the next one; 0: each match draws its own"}},
		),
		grouped("Policies of a match, which it keeps when it is resumed", policySettings()...),
		grouped("Files",
			&console.Setting{Flag: &cli.StringFlag{Name: "dir", Value: "matches", Usage: "`FOLDER` for replays and desync bundles; empty: write none"}, Where: console.Anywhere},
			&console.Setting{Flag: &cli.BoolFlag{Name: "resume", Usage: "continue the matches in --dir that an interrupt or a crash has stopped; their players need the same tokens"}, Where: console.Anywhere},
			&console.Setting{Flag: &cli.StringFlag{Name: "durability", Value: "interval", Usage: "when replays are synced to the disk: none, interval (each second) or frame (before a tick is sent)"}, Where: console.Anywhere, Words: []string{"none", "interval", "frame"}, Check: notReplicated},
			&console.Setting{Flag: &cli.DurationFlag{Name: "await-players", Value: 10 * time.Second, Usage: "after resume a match waits at most `TIME` for the players who were connected"}, Check: console.Within[time.Duration](0, 0)},
			&console.Setting{Flag: &cli.DurationFlag{Name: "drain", Usage: "when interrupted, begin no match and let the running ones end, for at most `TIME`, before the rest is suspended; a second interrupt suspends at once"}, Check: console.Within[time.Duration](0, 0)},
			&console.Setting{Flag: &cli.BoolFlag{Name: "replays", Value: true, DefaultText: "to clients on this machine", Usage: "let anybody list and download the replays of matches that are over; false: only their players and admins"}},
			&console.Setting{Flag: &cli.BoolFlag{Name: "bundles", Usage: "with replays: let anybody download the desync bundles of these matches too, so that links to them open in the page"}},
			&console.Setting{Flag: &cli.StringFlag{Name: "archive", Usage: "move sealed replays and desync bundles to `PLACE`, a folder or s3://BUCKET/PREFIX, where they can be searched"}},
			&console.Setting{Flag: &cli.UintFlag{Name: "keep-days", Usage: "delete matches from the archive `N` days after their end; 0: never"}},
			&console.Setting{Flag: &cli.UintFlag{Name: "keep-replays", Usage: "keep the latest `N` replays in the archive; 0: all"}},
			&console.Setting{Flag: &cli.Uint64Flag{Name: "keep-bytes", Usage: "keep at most `N` bytes of replays in the archive, the latest; 0: no limit"}},
			&console.Setting{Flag: &cli.UintFlag{Name: "keep-bundles", Usage: "keep the latest `N` desync bundles in the archive; 0: all"}},
			&console.Setting{Flag: &cli.Uint64Flag{Name: "keep-bundles-bytes", Usage: "keep at most `N` bytes of desync bundles and their pages in the archive, the latest; 0: no limit", DefaultText: "as keep-bytes"}},
			&console.Setting{Flag: &cli.StringFlag{Name: "sign-key", Usage: "sign sealed replays with the private key in `FILE` (PEM, PKCS #8); replay verify --key checks them"}},
			&console.Setting{Flag: &cli.BoolFlag{Name: "keep-open", Usage: "do not compress the replays of matches that are over"}},
			&console.Setting{Flag: console.HeavyFlag(), Check: console.CheckHeavy},
			&console.Setting{Flag: &cli.BoolFlag{Name: "explain", Usage: "explain each desync in the log, and as a page next to its bundle; costs seconds of CPU time"}},
		),
		grouped("Access",
			&console.Setting{Flag: &cli.StringFlag{Name: "tokens", Usage: "`FILE` with a list of tokens; clients whose tokens are removed from it are disconnected"}, Where: console.Anywhere},
			&console.Setting{Flag: &cli.UintFlag{Name: "guests", Usage: "let anybody take a free seat, and create up to `N` matches at a time; 0: no guests"}, Where: console.Anywhere, Live: true},
			&console.Setting{Flag: &cli.BoolFlag{Name: "print-tokens", Usage: "print generated tokens even if the output is not a terminal"}},
			&console.Setting{Flag: &cli.StringFlag{Name: "jwt-key", Usage: "`FILE` with the key that signs JWTs: an Ed25519 public key in PEM, a JWK Set, or with a jwt-algorithm of HS256 a secret"}},
			&console.Setting{Flag: &cli.StringFlag{Name: "jwt-algorithm", Usage: "EdDSA or HS256; the keys of a JWK Set have their own", DefaultText: "EdDSA"}},
			&console.Setting{Flag: &cli.StringFlag{Name: "jwt-audience", Usage: "require `NAME` in the aud of JWTs; without it, JWTs with an aud are refused"}},
			&console.Setting{Flag: &cli.StringFlag{Name: "jwt-issuer", Usage: "require `NAME` as the iss of JWTs; without it, any is accepted"}},
			&console.Setting{Flag: &cli.BoolFlag{Name: "compat", Usage: "also speak the game's other wire, to clients that were not written for this engine; see docs/compat.md"}},
			&console.Setting{Flag: &cli.StringSliceFlag{Name: "player-tokens", Usage: "the tokens of the seats in order, of any length, such as \"a b\", instead of generated ones; only on a loopback address, because short ones can be guessed"}},
		),
		grouped("Limits", limitSettings()...),
		grouped("Settings and log",
			&console.Setting{Flag: console.SettingsFlag, Where: console.AsCommand},
			&console.Setting{Flag: console.SetFlag, Where: console.AsCommand},
			&console.Setting{Flag: console.PrintSettingsFlag, Where: console.AsCommand},
			&console.Setting{Flag: console.WriteSettingsFlag, Where: console.AsCommand},
			&console.Setting{Flag: checkConfigFlag, Where: console.AsCommand},
			&console.Setting{Flag: logLevelFlag, Where: console.Anywhere, Words: logLevels},
			&console.Setting{Flag: logFormatFlag, Words: logFormats},
		),
	)
}

func grouped(name string, all ...*console.Setting) []*console.Setting {
	for _, s := range all {
		s.Group = name
	}
	return all
}

// policySettings are the settings of matches that their logs have, see MatchPolicy.
func policySettings() []*console.Setting {
	day := console.Within(0, 24*time.Hour)
	return []*console.Setting{
		{Flag: &cli.StringFlag{Name: "start", Value: DefaultStart, Usage: "when a match begins: now, N as soon as N players are there, ready as soon as each seat has a player and all are ready, or ready:N as soon as at least N are there and all of them are ready; an admin begins it at any time"}},
		{Flag: &cli.DurationFlag{Name: "countdown", Value: defaultCountdown, Usage: "with a start of ready: `TIME` from when all players are ready to the first tick"}, Check: console.Within(0, maxCountdown)},
		{Flag: &cli.DurationFlag{Name: "ready-deadline", Value: defaultReadyDeadline, Usage: "with a start of ready: how long unready players can keep the others in the lobby while at least half of those present are ready: `TIME` in all, and a fifth of it for one player; then the match begins; 0: forever"}, Check: day},
		{Flag: &cli.DurationFlag{Name: "grace", Value: 30 * time.Second, Usage: "take over the seat of a player `TIME` after the connection was lost", DefaultText: "30s, or two ticks"}, Check: console.Within(time.Millisecond, 24*time.Hour)},
		{Flag: &cli.DurationFlag{Name: "abandoned", Value: DefaultAbandoned, Usage: "end a match `TIME` after all its players have left for good; 0: never"}, Check: day},
		{Flag: &cli.DurationFlag{Name: "linger", Value: 15 * time.Second, Usage: "when the rules have ended a match, wait `TIME` for disconnected players to see its end"}, Check: console.Within(time.Millisecond, time.Hour)},
		{Flag: &cli.BoolFlag{Name: "substitutes", Usage: "let a bot play for each player whose seat is taken over, until the player is back"}},
		{Flag: &cli.DurationFlag{Name: "inactive", Value: 5 * time.Minute, Usage: "report a player who gives no command for `TIME` of the match; 0: never", DefaultText: "5m0s, or ten ticks"}, Check: day},
		{Flag: &cli.StringFlag{Name: "inactive-then", Value: "report", Usage: "what to do with an inactive player besides: report does nothing more, takeover ends the connection and takes the seat over, remove gives the seat up; both warn the player 30 s before"}, Words: []string{"report", "takeover", "remove"}},
		{Flag: &cli.BoolFlag{Name: "relay", Usage: "order commands without simulating them, which is cheap, but gives no referee"}},
		{Flag: &cli.StringFlag{Name: "input-delay", Usage: "ticks from a command's arrival to its effect, 1 being the next one that is sealed, or auto: as many as the players' connections need", DefaultText: "2; 1 where a tick lasts 500ms or longer"}},
		{Flag: &cli.DurationFlag{Name: "wait", Usage: "let the match wait for slow players, at most `TIME` per minute and player; 0: never"}, Check: console.Within(0, time.Minute)},
		{Flag: &cli.UintFlag{Name: "slow", Usage: "slow the match down for machines that cannot keep up, at most to `PERCENT`; 0: never"}, Check: console.Within[uint](0, 100)},
		{Flag: &cli.DurationFlag{Name: "share", Value: 6 * time.Second, Usage: "time by which one player may hold up the match through wait, slow and an input-delay of auto: `TIME` at once, and as much again in each minute; twice that for all players together"}, Check: console.Within(time.Millisecond, time.Minute)},
		{Flag: &cli.BoolFlag{Name: "vote-kick", Usage: "let players vote out a player that has used up its share, or for which a lobby waits, if more than half of the others write /kick and its seat or name in the chat"}},
		{Flag: &cli.StringFlag{Name: "players-see", Value: "all", Usage: "what clients are sent: all, which is the whole match, or views, which is what the rules show them (docs/feed.md)"}, Words: []string{"all", "views"}},
		{Flag: &cli.UintFlag{Name: "view-bytes", Usage: "send a viewer about `N` bytes a second, and the rest later", DefaultText: "no limit"}, Check: console.Within[uint](0, 1<<31-1)},
		{Flag: &cli.DurationFlag{Name: "spectator-delay", Usage: "show the match to spectators `TIME` later than to players"}},
		{Flag: &cli.BoolFlag{Name: "anonymous-spectators", Usage: "let anybody watch"}},
		{Flag: &cli.StringFlag{Name: "desync", Value: "resync", Usage: "what to do with a player whose checksum differs: log, resync or remove"}, Words: []string{"log", "resync", "remove"}},
	}
}

// limitSettings can change while the server runs.
func limitSettings() []*console.Setting {
	all := []*console.Setting{
		{Flag: &cli.UintFlag{Name: "max-per-address", Value: 64, Usage: "connections per address, and how many it may open in a second"}},
		{Flag: &cli.UintFlag{Name: "max-unauthenticated", Value: 8, Usage: "connections per address that have sent no token yet; a new one closes the oldest"}},
		{Flag: &cli.UintFlag{Name: "max-requests", Value: 50, Usage: "requests for lists, matches and metrics per address and second"}},
		{Flag: &cli.UintFlag{Name: "max-wrong-tokens", Value: 20, Usage: "invalid tokens per address and minute; valid ones always pass"}},
		{Flag: &cli.UintFlag{Name: "max-matches", Value: 1000, Usage: "matches at a time, in total"}},
		{Flag: &cli.UintFlag{Name: "max-spectators", Value: 64, Usage: "spectators of a match"}, Check: console.Within[uint](0, 1<<20)},
		{Flag: &cli.DurationFlag{Name: "idle", Value: 5 * time.Minute, Usage: "end a match without connections for `TIME`; 0: never"}, Check: console.Within[time.Duration](0, 0)},
		{Flag: &cli.Uint64Flag{Name: "match-disk", Value: 4 << 30, Usage: "bytes of a match's replay, and again of its desync bundles; the match ends when its replay reaches them; 0: no limit"}},
		{Flag: &cli.Uint64Flag{Name: "disk-reserve", Value: 64 << 20, Usage: "free bytes of the disk below which /readyz fails and no match is created over HTTP; 0: none"}},
		{Flag: &cli.UintFlag{Name: "guest-matches-per-address", Value: 2, Usage: "matches at a time that guests of one address may create"}},
		{Flag: &cli.UintFlag{Name: "guest-bots", Value: 32, Usage: "bots in all matches of guests together; 0: none"}},
		{Flag: &cli.Uint64Flag{Name: "guest-state", Value: 4 << 20, Usage: "bytes of state of all matches of guests together"}},
		{Flag: &cli.Uint64Flag{Name: "guest-disk", Value: 1 << 30, Usage: "bytes of the replays of guests' matches in a day; then guests create no more"}},
		{Flag: &cli.DurationFlag{Name: "guest-inactive", Value: 2 * time.Minute, Usage: "remove a guest who gives no command for `TIME` of the match; 0: guests are treated like other players", DefaultText: "2m0s, or ten ticks"}, Check: console.Within(0, 24*time.Hour)},
		{Flag: &cli.UintFlag{Name: "guest-seats", Usage: "seats of a match that guests of one address who have never played keep when others want to play; 0: half of the seats for people, at least 2"}},
	}
	for _, s := range all {
		s.Live = true
		if _, number := s.Flag.(*cli.UintFlag); number && s.Check == nil {
			s.Check = console.Within[uint](0, 1<<31-1)
		}
	}
	return all
}

// ServeFlags returns the settings of serve as flags, with those of an extension. Each is also a variable of the environment.
func ServeFlags(ext Extension) (flags []cli.Flag) {
	all := serveSettings()
	var more []*console.Setting
	for _, f := range ext.ServeFlags {
		more = append(more, &console.Setting{Flag: f, Where: console.Anywhere})
	}
	for _, f := range ext.ServeKeys {
		more = append(more, &console.Setting{Flag: f, Where: console.InFile})
	}
	for _, own := range grouped("Cluster", more...) {
		i := slices.IndexFunc(all, func(s *console.Setting) bool { return s.Name() == own.Name() })
		if i < 0 {
			all = slices.Insert(all, slices.IndexFunc(all, func(s *console.Setting) bool { return s.Name() == "dir" }), own)
			continue
		}
		if all[i].Flag = own.Flag; all[i].Name() == "durability" {
			all[i].Words, all[i].Check = append(all[i].Words, replicated), nil
		}
	}
	for _, s := range all {
		s.Flag = console.FromEnvironment([]cli.Flag{s.Flag})[0]
		flags = append(flags, s)
	}
	return flags
}

// notReplicated refuses the durability of a cluster in a program without an extension.
func notReplicated(c *cli.Context, name string) error {
	if c.String(name) == replicated {
		return console.Wrongf(c, name, "got %s, which needs the storage of a cluster; the program for that is samestep-cluster, see docs/cluster.md; here want none, interval or frame", replicated)
	}
	return nil
}

// liveSettings returns the keys that can change while the server runs. All others need a restart.
func liveSettings(c *cli.Context) (names []string) {
	for _, s := range console.SettingsIn(c.Command.Flags) {
		if s.Live {
			names = append(names, s.Name())
		}
	}
	return names
}

// A settingsFile is the file of --settings, which a running server reads again.
type settingsFile struct {
	c       *cli.Context        // of the start
	given   map[string][]string // on the command line
	running map[string][]string // what the server goes by
	matches int                 // the fewest that max-matches allows: those of the start
	check   func(*cli.Context) error
}

// settingsKey names the file of --settings in a program's metadata.
const settingsKey = "settings"

// TakeSettings reads the settings of a command that has some.
func TakeSettings(c *cli.Context) error {
	if !console.HasFlag(c.Command, console.SettingsFlag.Name) {
		return nil
	}
	c.App.Metadata[settingsKey] = newSettingsFile(c)
	return console.ReadSettings(c)
}

// newSettingsFile returns the file of --settings, which was not read yet, or nil without one.
func newSettingsFile(c *cli.Context) *settingsFile {
	if c.String(console.SettingsFlag.Name) == "" {
		return nil
	}
	f := &settingsFile{c: c, given: make(map[string][]string)}
	for _, name := range c.LocalFlagNames() {
		if slices.Contains(flagNames(c), name) { // not an alias
			f.given[name] = FlagValues(c, name)
		}
	}
	return f
}

func flagNames(c *cli.Context) (names []string) {
	for _, f := range c.Command.Flags {
		names = append(names, f.Names()[0])
	}
	return names
}

// FlagValues returns the values of a flag.
func FlagValues(c *cli.Context, name string) []string {
	switch v := c.Value(name).(type) {
	case cli.StringSlice:
		return v.Value()
	case console.Pairs:
		return v
	}
	return []string{fmt.Sprint(c.Value(name))}
}

func settingsOf(c *cli.Context) map[string][]string {
	all := make(map[string][]string)
	for _, name := range flagNames(c) {
		all[name] = FlagValues(c, name)
	}
	return all
}

// read returns the flags as a start would have them now.
func (f *settingsFile) read() (*cli.Context, error) {
	c, set, err := freshFlags(f.c)
	if err != nil {
		return nil, err
	}
	for name, values := range f.given {
		for _, v := range values {
			if err := set.Set(name, v); err != nil {
				return nil, err
			}
		}
	}
	if err := console.ReadSettings(c); err != nil {
		return nil, err
	}
	return c, f.check(c)
}

// reload applies the settings that can change, and names those that need a restart.
func (f *settingsFile) reload(s *server.Server, log *slog.Logger) error {
	c, err := f.read()
	if err != nil {
		return err
	}
	limits, changed, waiting, err := f.change(c)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		s.SetLimits(limits)
	}
	if len(changed)+len(waiting) > 0 {
		log.Info("settings", "changed", changed, "need a restart", waiting)
	}
	return nil
}

// change returns the limits that the server goes by from now on. Settings that need a restart stay as they were.
func (f *settingsFile) change(c *cli.Context) (l server.Limits, changed, waiting []string, err error) {
	differ, waiting := f.differ(c)
	now := settingsOf(c)
	for _, name := range liveSettings(c) {
		if err := c.Set(name, f.running[name][0]); err != nil {
			return l, nil, nil, err
		}
	}
	l = limitsOf(c, f.matches)
	for _, name := range differ {
		before := l.WithDefaults()
		f.running[name] = now[name]
		if err := c.Set(name, now[name][0]); err != nil {
			return l, nil, nil, err
		}
		if l = limitsOf(c, f.matches); !reflect.DeepEqual(before, l.WithDefaults()) { // such as 0 in the place of the default
			changed = append(changed, name)
		}
	}
	return l, changed, waiting, nil
}

// differ returns the flags that are other than those by which the server goes: those that can change now, and those that cannot.
func (f *settingsFile) differ(c *cli.Context) (changed, waiting []string) {
	now, live := settingsOf(c), liveSettings(c)
	for _, name := range flagNames(c) {
		switch {
		case name == console.SetFlag.Name: // the keys that it sets count
		case slices.Equal(now[name], f.running[name]):
		case !slices.Contains(live, name), name == "guests" && (c.Uint("guests") == 0) != (f.running[name][0] == "0"): // tokens of guests are known or not
			waiting = append(waiting, name)
		default:
			changed = append(changed, name)
		}
	}
	return changed, waiting
}

// reloadable returns the file for the reloader of a server that begins with some matches.
func (f *settingsFile) reloadable(matches int) *reloadable {
	f.running, f.matches, f.check = settingsOf(f.c), matches, checkAgain
	return newReloadable(console.SettingsFlag.Name, f.reload, f.c.String(console.SettingsFlag.Name))
}

// checkAgain checks the settings of a server that runs as a start with --check-config does, without the logs of interrupted matches.
func checkAgain(c *cli.Context) error {
	was := fmt.Sprint(c.Bool("check-config"))
	if err := c.Set("check-config", "true"); err != nil { // so nothing is drawn or printed
		return err
	}
	defer c.Set("check-config", was)
	if err := checkExtension(c); err != nil {
		return err
	}
	s, err := newStart(c)
	if err != nil {
		return err
	}
	return s.check(c, &resumption{})
}

// safeSettings are the keys of a file that --write-settings writes, with their values. Nobody gets in without a token.
var safeSettings = []struct{ name, value, why string }{
	{"listen", "127.0.0.1:8766", "for the proxy on this machine, which has the certificate"},
	{"base-path", "/game/", "as in the proxy's file"},
	{"trusted-proxy", "127.0.0.1", "names the clients, each of which has limits of its own"},
	{"allowed-host", "", "the public names; requests for others are refused"},
	{"dir", "/var/lib/samestep", "replays, and the logs of matches that run"},
	{"tokens", "", "who gets in, and as what; see serve --help"},
	{"matches", "0", "an admin or a lobby creates them: POST /matches"},
	{"max-matches", "100", "at a time"},
	{"resume", "true", "go on with the matches that a stop or a crash has interrupted"},
	{"guests", "0", "nobody without a token"},
	{"replays", "false", "for admins and the people who played"},
	{"disk-reserve", "1073741824", "free bytes below which no match is created"},
}

// writeSettings writes the file of --write-settings and the tokens, and checks both as --check-config does.
func writeSettings(c *cli.Context) error {
	path := c.String(console.WriteSettingsFlag.Name)
	tokens := c.String("tokens")
	if tokens == "" {
		whole, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		tokens = filepath.Join(filepath.Dir(whole), "tokens")
	}
	text, err := settingsText(c, tokens)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		if err = os.MkdirAll(dir, 0o755); err == nil {
			err = os.Chmod(dir, 0o755) // whatever umask root has: the user of the server looks into it
		}
		if err != nil {
			return err
		}
	}
	if err := createWith(path, text, 0o644); err != nil { // the user of the server reads it, and it has no secret
		return err
	}
	drawn := false
	if _, err = os.Stat(tokens); err != nil {
		err = createWith(tokens, fmt.Sprintf("# role  seat  name  match  token\nadmin   -     admin -      %s\n", DrawToken()), 0o600)
		drawn = err == nil
	}
	if err == nil {
		err = c.Set(console.SettingsFlag.Name, path)
	}
	if err == nil {
		err = console.ReadFile(c, path)
	}
	if err == nil {
		err = checkServeConfig(c)
	}
	if err != nil { // so it can be called again
		os.Remove(path)
		if drawn {
			os.Remove(tokens)
		}
		return err
	}
	fmt.Fprintf(c.App.Writer, "wrote %s\n", path)
	if drawn {
		fmt.Fprintf(c.App.Writer, "the token of an admin is in %s\n", tokens)
	}
	return nil
}

func createWith(path, text string, mode os.FileMode) error {
	return files.Create(path, func(f *os.File) error {
		_, err := f.WriteString(text)
		return cmp.Or(err, f.Chmod(mode))
	})
}

// settingsText returns the file of --write-settings. Flags replace the values of safeSettings.
func settingsText(c *cli.Context, tokens string) (string, error) {
	known := []string{console.WriteSettingsFlag.Name, console.SetFlag.Name, cli.HelpFlag.Names()[0]}
	var b strings.Builder
	b.WriteString("# ")
	fmt.Fprintf(&b, "%s serve --%s prints all keys. A running server reads limits again.\n", c.App.Name, console.PrintSettingsFlag.Name)
	for _, s := range safeSettings {
		known = append(known, s.name)
		var value any = yaml.Node{Kind: yaml.ScalarNode, Value: s.value}
		_, list := c.Value(s.name).(cli.StringSlice)
		switch {
		case s.name == "tokens":
			value = tokens
		case list && c.IsSet(s.name):
			value = c.StringSlice(s.name)
		case c.IsSet(s.name):
			value = c.Value(s.name)
		case list && s.value != "":
			value = []string{s.value}
		case s.value == "":
			return "", console.Usagef("--%s needs --%s %s=VALUE: %s", console.WriteSettingsFlag.Name, console.SetFlag.Name, s.name, s.why)
		}
		line, err := console.YAMLInLine(value)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n# %s\n%s: %s\n", s.why, s.name, line)
	}
	for _, name := range c.LocalFlagNames() {
		if slices.Contains(flagNames(c), name) && !slices.Contains(known, name) {
			return "", console.Wrongf(c, name, "--%s writes only %d other keys; add this one to the file by hand", console.WriteSettingsFlag.Name, len(safeSettings))
		}
	}
	return b.String(), nil
}
