package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/predict"
)

// path returns how long a command takes that is submitted now, and whether its tick can be expected.
func (c *Client) path() (w predict.Path, expects bool) {
	w = predict.Path{
		Tick:       c.pace.Tick(),
		Ahead:      c.pace.Behind(int64(c.run.Level(c.in.Tick()))) + c.measure.roundTrip,
		InputDelay: c.in.InputDelay(),
	}
	return w, c.link.State() == dialing.Up && c.runs() && c.pace.Steady()
}

// mostOwed returns over how many ticks that are late the prediction goes on.
func (c *Client) mostOwed() int64 {
	switch {
	case c.options.PredictLate == 0 || c.options.Pacing.AsTheyCome || c.catchingUp || c.run.Follower() == nil || c.predict.Failed() || c.run.Level(c.in.Tick()) > 0:
		return 0
	case !c.runs() || !c.pace.Steady():
		return c.pace.Owed() // nobody knows when the next tick is due
	}
	return int64(c.predict.MostOwed())
}

// SetPredict changes how many ticks the client predicts at most, those that are late included; see [Options]. An owner that
// finds that its machine needs too long for them asks for fewer: then the player's own commands show later.
func (c *Client) SetPredict(ticks lockstep.Tick) { c.predict.SetMost(ticks) }

// MostPredicted returns how many ticks the client predicts at most, see SetPredict.
func (c *Client) MostPredicted() lockstep.Tick { return c.predict.Most() }

// Predicted returns the predicted state, for reading, or nil if there is none. It is valid until the next call of the
// client.
func (c *Client) Predicted() *lockstep.Simulation { return c.predict.Current() }
