package record

import "fmt"

const (
	// CommandWindow is how many sequences of a player the engine remembers, and how far a new one may be ahead of the
	// highest.
	CommandWindow = 256

	// CheckWindow is how many of the last checked ticks accept reports.
	CheckWindow = 32
)

// Settings are the engine's own parameters of a match. The log has them, and every machine takes them from there.
type Settings struct {
	Seed          uint64 `json:"seed,string"`    // for the game's randomness; a server draws one in place of 0
	Players       uint8  `json:"players"`        // seats, 1 to MaxPlayers
	TickRate      uint16 `json:"tick_rate"`      // ticks per second when played live, 1 to 1000
	CheckEvery    uint16 `json:"check_every"`    // ticks from one checksum to the next, at least 1
	KeyframeEvery uint32 `json:"keyframe_every"` // ticks from one keyframe to the next; 0: only the first
}

// DefaultSettings returns the settings for a number of players: 20 ticks a second, a checksum every second and a
// keyframe every minute. The seed is 0: a server draws one for each match.
func DefaultSettings(players uint8) Settings {
	return Settings{Players: players, TickRate: 20, CheckEvery: 20, KeyframeEvery: 1200}
}

// Check returns an error that names the setting that is out of its range.
func (s *Settings) Check() error {
	switch {
	case s.Players < 1 || s.Players > MaxPlayers:
		return fmt.Errorf("lockstep: setting players: got %d, want 1 to %d", s.Players, MaxPlayers)
	case s.TickRate < 1 || s.TickRate > 1000:
		return fmt.Errorf("lockstep: setting tick rate: got %d, want 1 to 1000", s.TickRate)
	case s.CheckEvery < 1:
		return fmt.Errorf("lockstep: setting check every: got 0, want at least 1")
	}
	return nil
}
