//samestep:deterministic
package good

import (
	"errors"
	"fmt"
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
