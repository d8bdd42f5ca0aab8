//go:build !js

package serving

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server"
)

// A MatchPolicy has the policies of a server for its matches.
type MatchPolicy struct {
	Ctx     context.Context
	Flags   *cli.Context
	Game    *gameset.Playable
	Bot     string        // the name of the game's bots, "" for the usual ones
	Players uint8         // of a match whose request does not say how many
	Idle    time.Duration // ends a match with only bots, where server.Options.IdleMatch ends none; 0: never

	openReplay func(ctx context.Context, name string) (*os.File, error) // of the server; nil without one

	Host            host.Options
	DelaySpectators time.Duration
	Adaptive        bool // the input delay follows the players' connections
	substitutes     bool // bots play for players whose seats are taken over
	Start           string
	countdown       time.Duration
	readyDeadline   time.Duration
}

const (
	DefaultStart         = "1"              // the default of start: a match in which nobody is there does not begin
	DefaultAbandoned     = 30 * time.Second // how long a match goes on that all its players have left
	defaultReadyDeadline = 5 * time.Minute  // how long some players can keep the others in a lobby
	defaultCountdown     = 3 * time.Second
	maxCountdown         = 10 * time.Minute
)

// newMatchPolicy returns the policy of the flags of serve.
func newMatchPolicy(c *cli.Context, g *gameset.Playable) (*MatchPolicy, error) {
	if err := console.CheckSettings(c); err != nil {
		return nil, err
	}
	g, err := g.AgainstBots(c)
	if err != nil {
		return nil, err
	}
	p := &MatchPolicy{
		Ctx: c.Context, Flags: c, Game: g, Bot: c.String(gameset.BotFlag.Name), Players: uint8(min(c.Uint("players"), lockstep.MaxPlayers)), DelaySpectators: c.Duration("spectator-delay"),
		Host: host.Options{
			Relay: c.Bool("relay"), AnonymousSpectators: watchedByAll(c), SpectatorChat: true, VoteKick: c.Bool("vote-kick"),
			Grace:     given(c, "grace"),
			Abandoned: lockstep.Time(c.Duration("abandoned").Microseconds()), EndLinger: lockstep.Time(c.Duration("linger").Microseconds()),
			Wait: host.WaitPolicy{Bound: lockstep.Time(c.Duration("wait").Microseconds())},
			Slow: host.SlowPolicy{Percent: uint16(min(c.Uint("slow"), 1<<15))},
		},
	}
	share := int(c.Duration("share").Microseconds())
	p.Host.Rates.Pace = host.Rate{N: share, Per: 60 * lockstep.Second, Burst: share}
	if d := p.DelaySpectators; d < 0 || p.Host.Relay && d > 0 || d > time.Hour {
		return nil, console.Wrongf(c, "spectator-delay", "got %v, want at most 1h, and 0 with relay", d)
	}
	if delay := c.String("input-delay"); delay == "auto" {
		p.Adaptive = true
	} else if delay == "" && !c.IsSet("input-delay") {
		p.Host.InputDelay = 0 // see UsualDelay
	} else if n, err := strconv.ParseUint(delay, 10, 8); err == nil && n >= 1 && n <= record.MaxInputDelay {
		p.Host.InputDelay = lockstep.Tick(n)
	} else {
		return nil, console.Wrongf(c, "input-delay", "got %q, want auto or 1 to %d", delay, record.MaxInputDelay)
	}
	policies := map[string]host.DesyncPolicy{"log": host.LogDesynced, "resync": host.ResyncDesynced, "remove": host.RemoveDesynced}
	p.Host.Desync = policies[c.String("desync")]
	switch sees := c.String("players-see"); {
	case sees == "views" && g.ViewSchema() == nil:
		return nil, console.Wrongf(c, "players-see", "the rules of %s have no views (Rules.View)", g.Name())
	case sees == "views" && (p.Host.Relay || p.DelaySpectators > 0):
		return nil, console.Wrongf(c, "players-see", "views cannot be used with relay or spectator-delay")
	default:
		p.Host.Views.Only = sees == "views"
	}
	if p.substitutes = c.Bool("substitutes"); p.substitutes && p.Host.Relay {
		return nil, console.Wrongf(c, "substitutes", "%v", errSubstitutes)
	}
	p.readyDeadline = c.Duration("ready-deadline")
	start, err := parseStart(c.String("start"))
	if err != nil {
		return nil, console.Wrongf(c, "start", "%v", err)
	}
	p.setStart(c.String("start"), start, c.Duration("countdown"))
	inactive := map[string]host.InactiveAction{"report": host.ReportInactive, "takeover": host.TakeOverInactive, "remove": host.RemoveInactive}
	p.Host.Inactive = host.InactivePolicy{After: given(c, "inactive"), Then: inactive[c.String("inactive-then")]}
	return p, nil
}

// given returns the time of a flag for a Host, for which 0 is its default, which depends on the match's ticks. A flag of 0 means never.
func given(c *cli.Context, name string) lockstep.Time {
	if !c.IsSet(name) {
		return 0
	}
	return lockstep.Time(cmp.Or(c.Duration(name), -time.Second).Microseconds())
}

func (p *MatchPolicy) setStart(text string, start host.StartPolicy, countdown time.Duration) {
	if start.Ready {
		start.Countdown = lockstep.Time(countdown.Microseconds())
		start.Deadline = cmp.Or(lockstep.Time(p.readyDeadline.Microseconds()), -1) // for a Host 0 is the default
	}
	p.Start, p.countdown, p.Host.Start = text, countdown, start
}

// A requestedPolicy has the policies that a request for a match may set. "" and nil are those of the server.
type requestedPolicy struct {
	Bot         string `json:"bot"`       // see NamedBot
	Start       string `json:"start"`     // see parseStart
	Countdown   string `json:"countdown"` // such as 5s
	Substitutes *bool  `json:"substitutes"`
}

// applyFlags sets the policies of the matches of --matches. It refuses flags that would have no effect.
func (p *MatchPolicy) applyFlags(c *cli.Context, specs []server.MatchSpec) error {
	bots := c.Uint("bots")
	if c.Duration("inactive") == 0 && p.Host.Inactive.Then != host.ReportInactive {
		return console.Wrongf(c, "inactive-then", "%s has no effect with inactive 0", c.String("inactive-then"))
	}
	for i := range specs {
		if most := mostStart(&specs[i], bots); c.IsSet("start") && p.Host.Start.Players > most {
			return console.Wrongf(c, "start", "got %d players, want at most %d, the seats without a bot", p.Host.Start.Players, most)
		}
		if c.IsSet("countdown") && !p.Host.Start.Ready {
			return console.Wrongf(c, "countdown", "%v", errCountdown)
		}
		p.apply(&specs[i], bots)
	}
	return nil
}

// applyTo sets the policies of a match that a request asks for.
func (p *MatchPolicy) applyTo(spec *server.MatchSpec, r *requestedPolicy, bots uint8) error {
	text, start, countdown := p.Start, p.Host.Start, p.countdown
	var err error
	if r.Bot != "" {
		if p.Game, err = p.Game.Against(r.Bot); err != nil {
			return err
		}
		p.Bot = r.Bot
	}
	if r.Start != "" {
		text = r.Start
		if start, err = parseStart(text); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		if most := mostStart(spec, uint(bots)); start.Players > most {
			return fmt.Errorf("start: got %d players, want at most %d, the seats without a bot", start.Players, most)
		}
	}
	if r.Countdown != "" {
		countdown, err = time.ParseDuration(r.Countdown)
		if err != nil || countdown < 0 || countdown > maxCountdown {
			return fmt.Errorf("countdown: got %.32q, want 0s to %v", r.Countdown, maxCountdown)
		}
		if !start.Ready {
			return fmt.Errorf("countdown: %w", errCountdown)
		}
	}
	p.setStart(text, start, countdown)
	if r.Substitutes != nil {
		p.substitutes = *r.Substitutes
	}
	if p.substitutes && p.Host.Relay {
		return fmt.Errorf("substitutes: %w", errSubstitutes)
	}
	p.apply(spec, uint(bots))
	return nil
}

// Of returns the same policy for the matches of another game, with its usual bots if it has none of that name.
func (p *MatchPolicy) Of(g *gameset.Playable) *MatchPolicy {
	other := *p
	with, err := g.Against(p.Bot)
	if err != nil {
		with, other.Bot = g, ""
	}
	other.Game = with
	return &other
}

// slowTick is from how long a tick on a command runs in the next one: a player would notice another, and what is late for it has lost less.
const slowTick = 500_000 // microseconds

// UsualDelay returns the input delay of a match whose server says none: the next tick but one, so that commands whose ways take unequally
// long run in equal ticks, or the next one where ticks are slow.
func UsualDelay(s *lockstep.Settings) lockstep.Tick {
	if s.Micros(1) >= slowTick {
		return 1
	}
	return 2
}

// apply sets the options of a match, of which those in ticks depend on its period, and gives its last seats to bots.
func (p *MatchPolicy) apply(spec *server.MatchSpec, bots uint) {
	o, s := p.Host, spec.Settings
	o.SpectatorDelay = lockstep.Tick(s.TicksIn(p.DelaySpectators.Microseconds()))
	if p.Adaptive {
		o.Delay = host.DelayPolicy{Min: 1, Max: lockstep.Tick(s.TickRate()/2 + 1)}
	} else if o.InputDelay == 0 {
		o.InputDelay = UsualDelay(&s)
	}
	o.Views.Every = max(1, lockstep.Tick(s.TickRate())/10)
	o.Views.Budget = int(min(int64(p.Flags.Uint("view-bytes"))*s.Micros(int64(o.Views.Every))/1e6, feed.MaxViewBytes))
	o.Start.Players = min(o.Start.Players, int(s.Players))
	spec.Host = &o
	spec.Recorded, spec.Restore = p.recorded(bots), p.restore
	spec.Again = func(next *server.MatchSpec) { p.apply(next, bots) }
	if p.substitutes {
		spec.Substitute = func(seat lockstep.Player) lockstep.Bot { return p.Game.HostedBot(seat, uint64(seat)+1) }
	}
	if bots > 0 {
		p.fill(spec, bots)
	}
}

// policyFlags are the policies that a match keeps from its creation, besides those that a request can set.
var policyFlags = []string{
	"spectator-delay", "anonymous-spectators", "relay", "players-see", "view-bytes", "input-delay", "wait", "slow", "share", "vote-kick", "desync",
	"grace", "abandoned", "linger", "inactive", "inactive-then", "ready-deadline",
}

// recorded returns the policies of a match as flags, of those that are not the default.
func (p *MatchPolicy) recorded(bots uint) string {
	text := []string{fmt.Sprintf("--bots=%d", bots)}
	for _, f := range []struct{ name, value, usual string }{
		{"bot", p.Bot, ""}, {"start", p.Start, DefaultStart}, {"countdown", p.countdown.String(), defaultCountdown.String()}, {"substitutes", fmt.Sprint(p.substitutes), "false"},
	} {
		if f.value != f.usual {
			text = append(text, "--"+f.name+"="+f.value)
		}
	}
	for _, name := range policyFlags {
		if p.Flags.IsSet(name) {
			text = append(text, fmt.Sprintf("--%s=%v", name, p.Flags.Value(name)))
		}
	}
	if watchedByAll(p.Flags) && !p.Flags.IsSet("anonymous-spectators") {
		text = append(text, "--anonymous-spectators=true")
	}
	return strings.Join(text, " ")
}

// disclosureFlags are the policy flags that nobody can replace later: the log says who may see what of the match.
var disclosureFlags = []string{"spectator-delay", "players-see"}

// restore gives a resumed match the policies of its creation. Flags of this start replace its own, except for disclosureFlags.
func (p *MatchPolicy) restore(spec *server.MatchSpec, recorded string) error {
	c, set, err := freshFlags(p.Flags)
	if err != nil {
		return err
	}
	args := strings.Fields(recorded)
	for _, name := range append(policyFlags, "bots", "bot", "start", "countdown", "substitutes") {
		if p.Flags.IsSet(name) && !slices.Contains(disclosureFlags, name) {
			args = append(args, fmt.Sprintf("--%s=%v", name, p.Flags.Value(name)))
		}
	}
	if err := set.Parse(args); err != nil {
		return err
	}
	old, err := newMatchPolicy(c, p.Game)
	if err != nil {
		return err
	}
	old.Idle, old.Players = p.Idle, p.Players
	old.apply(spec, c.Uint("bots"))
	return nil
}

// freshFlags returns a command with its flags at their defaults.
func freshFlags(of *cli.Context) (*cli.Context, *flag.FlagSet, error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, f := range of.Command.Flags {
		if err := f.Apply(set); err != nil {
			return nil, nil, err
		}
	}
	c := cli.NewContext(of.App, set, nil)
	c.Context, c.Command = of.Context, of.Command
	return c, set, nil
}

var (
	errSubstitutes = errors.New("cannot be used with relay: bots look at the state of a referee")
	errCountdown   = errors.New("needs a start of ready or ready:N")
)

// parseStart reads when a match begins: the value of start, or of the field start in a request.
func parseStart(text string) (start host.StartPolicy, err error) {
	number, ready := strings.CutPrefix(text, "ready:")
	if start.Ready = ready || text == "ready"; text == "ready" || text == "now" {
		return start, nil
	}
	n, err := strconv.ParseUint(number, 10, 8)
	if err != nil || n < 1 || n > lockstep.MaxPlayers {
		return start, fmt.Errorf("got %q, want now, ready, or a number of players, such as 2 or ready:2", text)
	}
	start.Players = int(n)
	return start, nil
}

// mostStart returns the most players that a match can wait for: one for each seat without a bot.
func mostStart(spec *server.MatchSpec, bots uint) int {
	return max(1, int(spec.Settings.Players)-int(bots))
}

// fill gives the last seats of a match to bots, so that people get the first ones.
func (p *MatchPolicy) fill(spec *server.MatchSpec, wanted uint) {
	spec.Bots, spec.BotKind = make([]lockstep.Bot, spec.Settings.Players), p.Bot
	bots := int(min(wanted, uint(len(spec.Bots))))
	for i := range bots {
		seat := lockstep.Player(len(spec.Bots) - 1 - i)
		spec.Bots[seat] = SeatedBot(p.Game, seat, uint64(seat)+1)
	}
	if p.Idle > 0 {
		spec.OnStart = func(m *server.Match) { go p.watch(m, bots) }
	}
}

// SeatedBot returns a bot that is made at its first turn, where a panic ends only the bot. Here it would end the server.
func SeatedBot(g *gameset.Playable, p lockstep.Player, seed uint64) lockstep.Bot {
	var bot lockstep.Bot
	return func(s *lockstep.Simulation) []any {
		if bot == nil {
			if bot = g.HostedBot(p, seed); bot == nil {
				panic("there is none for this seat")
			}
		}
		return bot(s)
	}
}

// watch ends a match when only bots have been connected to it for a while.
func (p *MatchPolicy) watch(m *server.Match, bots int) {
	check := time.NewTicker(max(time.Second, p.Idle/10))
	defer check.Stop()
	alone := time.Now()
	for {
		select {
		case <-m.Done():
			return
		case <-check.C:
		}
		if v := m.Status(); v.Stats.Players+v.Stats.Spectators > bots {
			alone = time.Now()
		} else if time.Since(alone) > p.Idle {
			// The match is over if this fails.
			_ = m.End(p.Ctx, fmt.Sprintf("only bots were connected for %v", p.Idle))
			return
		}
	}
}
