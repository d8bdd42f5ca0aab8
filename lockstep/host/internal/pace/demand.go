package pace

// A demand is how much a player asks for. It follows the player's measured need.
type demand struct {
	level    uint16
	up, down int // consecutive measurements of a higher or lower need
}

// count counts consecutive measurements with a reason.
func count(n *int, reason bool) {
	if reason {
		*n++
	} else {
		*n = 0
	}
}

// follow counts a measurement that needs more or less than the level. It returns 1 or -1 when the level should rise or
// fall, else 0.
func (c *demand) follow(more, less bool) int {
	count(&c.up, more)
	count(&c.down, less)
	switch {
	case c.up >= 2:
		c.up = 0
		return 1
	case c.down >= 5:
		c.down = 0
		return -1
	}
	return 0
}
