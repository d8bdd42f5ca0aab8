package live

import (
	"bytes"
	"encoding/json"

	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A request asks a server for another match.
type request struct {
	Game    string          `json:"game"`
	Players uint8           `json:"players"`
	Period  uint32          `json:"tick_micros"`
	Seed    uint64          `json:"seed,string"`
	Config  json.RawMessage `json:"config"`
}

// Request returns the body of a request to create a match like this one, as JSON, or nothing before there is a state. The
// caller adds its name and its bots.
func (m *Match) Request() (body []byte) {
	m.See(func(c *player.Client, _ player.Interpolation) {
		h, config := c.Header(), bytes.Buffer{}
		if m.game.ConfigSchema().DumpJSON(&config, h.Config) != nil {
			return // the header is good, so this does not happen
		}
		r := request{Game: m.game.Name(), Players: h.Settings.Players, Period: h.Settings.TickMicros, Seed: h.Settings.Seed, Config: config.Bytes()}
		body, _ = json.Marshal(&r) // plain data
	})
	return body
}
