//go:build !js

package console

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

const heavyName = "heavy"

// HeavyFlag returns the flag for the share of the heavy mode, see [twin.Options].
func HeavyFlag() *cli.StringFlag {
	return &cli.StringFlag{Name: heavyName, Value: "0%", Usage: "compare the match with restored copies of itself, in up to `SHARE` of the time of its ticks, such as 10%; finds stale caches, with a bundle"}
}

// CheckHeavy refuses a share that is none.
func CheckHeavy(c *cli.Context, name string) error {
	if _, err := percent(c.String(name)); err != nil {
		return Wrongf(c, name, "%v", err)
	}
	return nil
}

// Heavy returns the share in percent.
func Heavy(c *cli.Context) int {
	n, _ := percent(c.String(heavyName)) // it was checked
	return n
}

func percent(text string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSuffix(text, "%"), 10, 8)
	if err != nil || n > 100 {
		return 0, fmt.Errorf("got %q, want a share in whole percent, 0%% to 100%%", text)
	}
	return int(n), nil
}
