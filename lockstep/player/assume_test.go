package player

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A command says how late commands arrive only if it is sent at once to a match that runs.
func TestExpected(t *testing.T) {
	for _, row := range []struct {
		name string
		set  func(c *Client)
		want bool
	}{
		{"the match runs", func(*Client) {}, true},
		{"it is paused", func(c *Client) { c.in.paused = true }, false},
		{"it is held", func(c *Client) { c.held.Reason = "a player is slow" }, false},
		{"the connection is lost", func(c *Client) { c.link = linkDialing }, false},
		{"arrivals are not known", func(c *Client) { c.pace.noBase = true }, false},
		{"the buffer fills", func(c *Client) { c.pace.waiting = true }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g, header := testgame.NewBankMatch(t, 2)
			sim, err := g.AwaitState(header)
			if err != nil {
				t.Fatal(err)
			}
			c := New(g, Options{Token: "token", Predict: 6})
			c.link, c.inputDelay = linkUp, 2
			c.pace.begin(&header.Settings, 100)
			c.pace.noBase = false
			c.predict.sim, c.predict.valid, c.predict.lead = sim, true, 1
			row.set(c)
			if _, ok := c.own.add(0, 1, nil); !ok {
				t.Fatal("the command was not taken")
			}
			c.assume()
			s := &c.own.list[0]
			if s.assumed != 1 && s.assumed != 2 || (s.expected > 0) != row.want {
				t.Errorf("got tick %d, and %d expected", s.assumed, s.expected)
			}
			if c.own.unsent(); s.expected > 0 {
				t.Error("it is sent again, and tells nothing")
			}
			c.predict.answered(&c.own, 0, 50*lockstep.Millisecond)
			if c.predict.arrival != 0 {
				t.Errorf("it taught %d", c.predict.arrival)
			}
		})
	}
}
