package player

import "github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"

// A Stage is the state of a client; see [Client].
type Stage uint8

// The stages of a client.
const (
	StageWaiting    Stage = iota // for the time of the next attempt
	StageDialing                 // wants a connection
	StageGreeting                // has one, and waits for the welcome
	StageSyncing                 // waits for the state
	StageCatchingUp              // runs ticks as fast as it can
	StageLive
	StageClosing  // wants the connection closed, after what Send returns
	StageDraining // the match has ended; what has arrived is still run
	StageDone
)

var stageTexts = [...]string{"waiting", "dialing", "greeting", "syncing", "catching up", "live", "closing", "draining", "done"}

func (s Stage) String() string { return stageTexts[s] }

// Stage returns the state of the client.
func (c *Client) Stage() Stage {
	switch c.link.State() {
	case dialing.Waiting:
		return StageWaiting
	case dialing.Dialing:
		return StageDialing
	case dialing.Greeting:
		return StageGreeting
	case dialing.Closing:
		return StageClosing
	case dialing.Over:
		if c.over && c.link.Err() == nil && (c.run.Level(c.in.Tick()) > 0 || c.run.Waiting() > 0) {
			return StageDraining
		}
		return StageDone
	}
	switch {
	case c.look != nil && !c.look.Looks(), c.look == nil && (c.run.Follower() == nil || c.in.From() == 0): // nothing of the match on this connection
		return StageSyncing
	case c.catchingUp:
		return StageCatchingUp
	}
	return StageLive
}
