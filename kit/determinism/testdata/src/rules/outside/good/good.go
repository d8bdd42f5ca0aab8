//samestep:deterministic
package good

import (
	"errors"
	"fmt"
	"time"
)

type config struct {
	level string
	rows  []string
}

var errRow = errors.New("no such row")

func row(c *config, y int) (string, error) {
	if y >= len(c.rows) {
		return "", fmt.Errorf("level %s: row %d: %w", c.level, y, errRow)
	}
	return c.rows[y], nil
}

func hour(tick uint32) int { return time.Unix(int64(tick)*600, 0).UTC().Hour() }

func day(text string) (time.Time, error) { return time.Parse(time.DateOnly, text) }

func say(t time.Time) string { return fmt.Sprint(t.UTC()) }
