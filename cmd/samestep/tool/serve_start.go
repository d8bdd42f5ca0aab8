//go:build !js

package tool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// defaultStart is the default of --start: a match in which nobody is there does not begin.
const defaultStart = "1"

// The default and the longest --countdown.
const (
	defaultCountdown = 3 * time.Second
	maxCountdown     = 10 * time.Minute
)

var (
	errSubstitutes = errors.New("got it for a relay, want a referee, whose state the bots look at")
	errCountdown   = errors.New("got it without a start of ready, want it with ready or ready:N")
)

// parseStart reads when a match begins: the value of --start, or of the field start in a request.
func parseStart(text string) (start host.StartPolicy, err error) {
	if text == "now" {
		return start, nil
	}
	number := text
	if rest, ok := strings.CutPrefix(text, "ready"); ok {
		if start.Ready = true; rest == "" {
			return start, nil
		}
		number, _ = strings.CutPrefix(rest, ":")
		if number == rest {
			number = ""
		}
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

// applyFlags sets the policies of the matches of --matches. It refuses flags that would have no effect.
func (p *matchPolicy) applyFlags(c *cli.Context, specs []server.MatchSpec) error {
	bots := c.Uint("bots")
	if c.Duration("inactive") == 0 && p.host.Inactive.Then != host.ReportInactive {
		return usagef("--inactive-then: got %s with --inactive 0, which never happens", c.String("inactive-then"))
	}
	for i := range specs {
		if most := mostStart(&specs[i], bots); c.IsSet("start") && p.host.Start.Players > most {
			return usagef("--start: got %d players, want at most %d, the seats without a bot", p.host.Start.Players, most)
		}
		if c.IsSet("countdown") && !p.host.Start.Ready {
			return usagef("--countdown: %v", errCountdown)
		}
		p.apply(&specs[i], bots)
	}
	return nil
}

// applyTo sets the policies of a match that a request asks for.
func (p *matchPolicy) applyTo(spec *server.MatchSpec, r *matchRequest) error {
	text, start, countdown := p.start, p.host.Start, p.countdown
	var err error
	if r.Start != "" {
		text = r.Start
		if start, err = parseStart(text); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		if most := mostStart(spec, uint(r.Bots)); start.Players > most {
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
	if p.substitutes && p.host.Relay {
		return fmt.Errorf("substitutes: %w", errSubstitutes)
	}
	p.apply(spec, uint(r.Bots))
	return nil
}
