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
	TickRate      uint16 `json:"tick_rate"`      // ticks per second when played live, 1 to 1000
	CheckEvery    uint16 `json:"check_every"`    // ticks from one checksum to the next, at least 1
	KeyframeEvery uint32 `json:"keyframe_every"` // ticks from one keyframe to the next; 0: only the first

	// TickMS is the period of a tick in milliseconds when played live, 1 to 60000. It replaces TickRate; 0 disables it. In
	// a header with a period, TickRate is the period's rate, rounded, at least 1.
	TickMS uint16 `json:"tick_ms,omitempty"`

	// Relay says that the match has no referee, so its log goes on where the rules end the match. A coordinator sets
	// it, and only for rules that have a result.
	Relay bool `json:"relay,omitempty"`
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
	case s.TickMS > maxTickMS:
		return fmt.Errorf("lockstep: setting tick ms: got %d, want 1 to %d, or 0 for a tick rate", s.TickMS, maxTickMS)
	case s.TickMS == 0 && (s.TickRate < 1 || s.TickRate > 1000):
		return fmt.Errorf("lockstep: setting tick rate: got %d, want 1 to 1000", s.TickRate)
	case s.CheckEvery < 1:
		return fmt.Errorf("lockstep: setting check every: got 0, want at least 1")
	}
	return nil
}

// maxTickMS is the longest period of a tick in milliseconds.
const maxTickMS = 60_000

// Normal returns the settings as a header has them: a TickMS sets the TickRate.
func (s Settings) Normal() Settings {
	if s.TickMS > 0 {
		s.TickRate = uint16(max(1, (1000+uint32(s.TickMS)/2)/uint32(s.TickMS)))
	}
	return s
}

// Rate returns how many ticks are due in how many microseconds at full speed, exactly. Settings without a rate, which a
// server can send in a view, count as one tick a second.
func (s *Settings) Rate() (ticks, micros int64) {
	if s.TickMS > 0 {
		return 1, 1000 * int64(s.TickMS)
	}
	return max(1, int64(s.TickRate)), 1_000_000
}

// Micros returns the time of a number of ticks at full speed in microseconds, rounded down.
func (s *Settings) Micros(ticks int64) int64 {
	n, micros := s.Rate()
	return ticks/n*micros + ticks%n*micros/n
}

// TicksIn returns how many ticks are due in a time in microseconds at full speed, rounded down.
func (s *Settings) TicksIn(micros int64) int64 {
	n, each := s.Rate()
	return micros/each*n + micros%each*n/each
}
