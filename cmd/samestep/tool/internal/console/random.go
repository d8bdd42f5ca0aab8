//go:build !js

package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
)

// RandomFlags are those of verbs that play random commands.
var RandomFlags = []cli.Flag{
	&cli.StringSliceFlag{Name: "weight", Usage: "how often random commands of a kind come, as `KIND=N`: 0 for never, 1 for a kind without a weight; repeat the flag for several kinds"},
	&cli.StringFlag{Name: "allow-thin", Usage: "accept matches in which most commands do nothing, for a `REASON`"},
}

// Weights returns the weights of --weight, or nil.
func Weights(c *cli.Context) (map[string]int, error) {
	var all map[string]int
	for _, text := range c.StringSlice("weight") {
		at := strings.LastIndexByte(text, '=')
		n, err := strconv.ParseUint(text[at+1:], 10, 31)
		if at < 1 || err != nil {
			return nil, Usagef("--weight: got %q, want the name of a kind of command, = and a number, such as \"give up=0\"", text)
		}
		if all == nil {
			all = map[string]int{}
		}
		all[text[:at]] = int(n)
	}
	return all, nil
}

// ThinHint adds the flags to an error that tells of the same options in Go. more are flags for larger matches, or "".
func ThinHint(err error, more string) error {
	if errors.Is(err, locksteptest.ErrThin) {
		return fmt.Errorf("%w\nas flags: %s--weight KIND=0, --allow-thin REASON", err, more)
	}
	return err
}
