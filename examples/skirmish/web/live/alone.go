package live

import (
	"encoding/json"
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/live"
)

// A request is what the page asks of a match without a server, in the words of a request to a server.
type request struct {
	Players  uint8           `json:"players"` // the user, and bots
	Bot      string          `json:"bot"`     // strength of the bots
	TickRate uint16          `json:"tick_rate"`
	Seed     uint64          `json:"seed"`
	Config   json.RawMessage `json:"config"` // the whole configuration
}

// Alone begins a match of the user against bots, without a server, as a request says in JSON.
func Alone(name string, body []byte) (*Game, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("a match: %w", err)
	}
	config, err := rules().ReadConfig(r.Config, nil)
	if err != nil {
		return nil, err
	}
	strength, err := strengthOf(r.Bot)
	if err != nil {
		return nil, err
	}
	bots := make([]lockstep.Bot, max(r.Players, 1))
	for i := range bots[1:] {
		bots[i+1] = strength.NewPlayer(lockstep.Player(i+1), r.Seed)
	}
	return Play(live.Solo{Name: name, Config: config, Seed: r.Seed, TickRate: r.TickRate, Bots: bots})
}

func strengthOf(name string) (skirmish.Strength, error) {
	for s := skirmish.Easy; s <= skirmish.Hard; s++ {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("bot: got %.20q, want easy, normal or hard", name)
}
