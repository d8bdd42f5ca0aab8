package player

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The tick of a command is expected only if it is sent at once to a match that runs.
func TestExpected(t *testing.T) {
	for _, row := range []struct {
		name string
		set  func(c *Client)
		want bool
	}{
		{"the match runs", func(*Client) {}, true},
		{"it is held", func(c *Client) { c.held.Reason = "a player is slow" }, false},
		{"the connection is lost", func(c *Client) { c.link.HangUp(0, false, nil) }, false},
		{"arrivals are not known", func(c *Client) { c.pace.Interrupted() }, false},
		{"the buffer fills", func(c *Client) { c.pace.Interrupted(); c.pace.Came(0, 1, false) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g, header := testgame.NewBankMatch(t, 2)
			c := New(g, Options{Token: "token", Predict: 6})
			c.link.Advance(0)
			c.link.Connected(0)
			c.link.Welcomed(0)
			c.pace.Arriving(100)
			c.pace.Begin(&header.Settings)
			c.pace.Came(0, 1, false)
			c.pace.Pass(lockstep.Second, 100) // the buffer is full
			row.set(c)
			if _, expects := c.path(); expects != row.want {
				t.Errorf("got %t", expects)
			}
		})
	}
}
