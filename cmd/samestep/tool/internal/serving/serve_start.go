//go:build !js

package serving

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// DefaultStart is the default of start: a match in which nobody is there does not begin.
const DefaultStart = "1"

// The default and the longest countdown.
const (
	defaultCountdown = 3 * time.Second
	maxCountdown     = 10 * time.Minute
)

var (
	errSubstitutes = errors.New("got it with relay, want a referee, whose state the bots look at")
	errCountdown   = errors.New("got it without a start of ready, want it with ready or ready:N")
)

// parseStart reads when a match begins: the value of start, or of the field start in a request.
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
