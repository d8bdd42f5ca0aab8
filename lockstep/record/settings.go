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
	Seed          uint64 `json:"seed,string"`    // for the game's randomness; if it is 0, a server draws one
	Players       uint8  `json:"players"`        // seats, 1 to MaxPlayers
	TickMicros    uint32 `json:"tick_micros"`    // microseconds of a tick when played live, 1,000 to 60,000,000; see [TickPeriod]
	CheckEvery    uint16 `json:"check_every"`    // ticks from one checksum to the next, at least 1
	KeyframeEvery uint32 `json:"keyframe_every"` // ticks from one keyframe to the next; 0: only the first

	// Relay says that the match has no referee, so its log goes on where the rules end the match. A coordinator sets
	// it, and only for rules that have a result.
	Relay bool `json:"relay,omitempty"`
}

const (
	minTickMicros = 1000
	maxTickMicros = 60_000_000
)

// TickPeriod returns the TickMicros of a number of ticks per second, 1 to 1000.
func TickPeriod(rate uint16) uint32 {
	r := max(1, uint32(rate))
	return (1_000_000 + r/2) / r
}

// DefaultSettings returns the settings for a number of players: 20 ticks a second, a checksum every second and a
// keyframe every minute. The seed is 0: a server draws one for each match.
func DefaultSettings(players uint8) Settings {
	return Settings{Players: players, TickMicros: TickPeriod(20), CheckEvery: 20, KeyframeEvery: 1200}
}

// Check returns an error that names the setting that is out of its range.
func (s *Settings) Check() error {
	switch {
	case s.Players < 1 || s.Players > MaxPlayers:
		return fmt.Errorf("lockstep: setting players: got %d, want 1 to %d", s.Players, MaxPlayers)
	case s.TickMicros < minTickMicros || s.TickMicros > maxTickMicros:
		return fmt.Errorf("lockstep: setting tick micros: got %d, want %d to %d", s.TickMicros, minTickMicros, maxTickMicros)
	case s.CheckEvery < 1:
		return fmt.Errorf("lockstep: setting check every: got 0, want at least 1")
	}
	return nil
}

// TickRate returns the ticks per second, rounded, at least 1. Settings without a period, which a server can send in a
// view, count as one tick a second.
func (s *Settings) TickRate() uint16 { return uint16(max(1, (second+s.period()/2)/s.period())) }

// Micros returns the time of a number of ticks at full speed in microseconds.
func (s *Settings) Micros(ticks int64) int64 { return ticks * s.period() }

// TicksIn returns how many ticks are due in a time in microseconds at full speed, rounded down.
func (s *Settings) TicksIn(micros int64) int64 { return micros / s.period() }

const second = 1_000_000 // microseconds

// period returns the period of a tick in microseconds.
func (s *Settings) period() int64 {
	if s.TickMicros == 0 {
		return second
	}
	return int64(s.TickMicros)
}
