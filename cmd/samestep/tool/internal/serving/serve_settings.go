//go:build !js

package serving

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// liveSettings returns the keys that can change while the server runs. All others need a restart.
func liveSettings(c *cli.Context) (names []string) {
	for _, s := range console.SettingsIn(c.Command.Flags) {
		if s.Live {
			names = append(names, s.Name())
		}
	}
	return names
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

// A SettingsFile is the file of --settings, which a running server reads again.
type SettingsFile struct {
	C       *cli.Context        // of the start
	given   map[string][]string // on the command line
	running map[string][]string // what the server goes by
	Matches int                 // the fewest that max-matches allows: those of the start
	Check   func(*cli.Context) error
}

// settingsKey names the file of --settings in a program's metadata.
const settingsKey = "settings"

// TakeSettings reads the settings of a command that has some.
func TakeSettings(c *cli.Context) error {
	if !console.HasFlag(c.Command, console.SettingsFlag.Name) {
		return nil
	}
	c.App.Metadata[settingsKey] = NewSettingsFile(c)
	return console.ReadSettings(c)
}

// settingsFileOf returns the file that TakeSettings has read, or nil.
func settingsFileOf(c *cli.Context) *SettingsFile {
	f, _ := c.App.Metadata[settingsKey].(*SettingsFile)
	return f
}

// NewSettingsFile returns the file of --settings, which was not read yet, or nil without one.
func NewSettingsFile(c *cli.Context) *SettingsFile {
	if c.String(console.SettingsFlag.Name) == "" {
		return nil
	}
	f := &SettingsFile{C: c, given: make(map[string][]string)}
	for _, name := range c.LocalFlagNames() {
		if slices.Contains(flagNames(c), name) { // not an alias
			f.given[name] = FlagValues(c, name)
		}
	}
	return f
}

// flagNames returns the names of the flags of a verb.
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

// settingsOf returns the values of all flags.
func settingsOf(c *cli.Context) map[string][]string {
	all := make(map[string][]string)
	for _, name := range flagNames(c) {
		all[name] = FlagValues(c, name)
	}
	return all
}

// Read returns the flags as a start would have them now.
func (f *SettingsFile) Read() (*cli.Context, error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, each := range f.C.Command.Flags {
		if err := each.Apply(set); err != nil {
			return nil, err
		}
	}
	for name, values := range f.given {
		for _, v := range values {
			if err := set.Set(name, v); err != nil {
				return nil, err
			}
		}
	}
	c := cli.NewContext(f.C.App, set, nil)
	c.Context, c.Command = f.C.Context, f.C.Command
	if err := console.ReadSettings(c); err != nil {
		return nil, err
	}
	return c, f.Check(c)
}

// Reload applies the settings that can change, and names those that need a restart.
func (f *SettingsFile) Reload(s *server.Server, log *slog.Logger) error {
	c, err := f.Read()
	if err != nil {
		return err
	}
	limits, changed, waiting, err := f.Change(c)
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

// Change returns the limits with the settings that can change, which the server goes by from now on. Those that need a restart stay as
// they were.
func (f *SettingsFile) Change(c *cli.Context) (l server.Limits, changed, waiting []string, err error) {
	differ, waiting := f.Differ(c)
	now := settingsOf(c)
	for _, name := range liveSettings(c) {
		if err := c.Set(name, f.running[name][0]); err != nil {
			return l, nil, nil, err
		}
	}
	l = limitsFor(c, f.Matches)
	for _, name := range differ {
		before := l.WithDefaults()
		f.running[name] = now[name]
		if err := c.Set(name, now[name][0]); err != nil {
			return l, nil, nil, err
		}
		if l = limitsFor(c, f.Matches); !reflect.DeepEqual(before, l.WithDefaults()) { // such as 0 in the place of the default
			changed = append(changed, name)
		}
	}
	return l, changed, waiting, nil
}

// Differ returns the flags that are other than those by which the server goes: those that can change now, and those that cannot.
func (f *SettingsFile) Differ(c *cli.Context) (changed, waiting []string) {
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

// Reloadable returns the file for the reloader of a server that begins with some matches.
func (f *SettingsFile) Reloadable(matches int) *reloadable {
	f.running, f.Matches, f.Check = settingsOf(f.C), matches, CheckAgain
	return newReloadable(console.SettingsFlag.Name, f.Reload, f.C.String(console.SettingsFlag.Name))
}

// CheckAgain checks the settings of a server that runs as a start with --check-config does, without the logs of interrupted matches.
func CheckAgain(c *cli.Context) error {
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
