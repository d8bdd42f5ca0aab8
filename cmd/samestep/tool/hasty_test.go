//go:build !js

package tool

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A hasty match ends with the first command stop, which changes no state.
type (
	hastyWorld  struct{ Sum uint64 }
	hastyConfig struct{ Most uint32 }
	hastyAdd    struct{ N uint8 }
	hastyStop   struct{}
)

// hastyGame is a game without bots, whose random commands end the match.
func hastyGame() []Game {
	rules := lockstep.Rules[hastyWorld, hastyConfig]{
		Name: "hasty", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[hastyAdd](1, "add"), lockstep.Type[hastyStop](2, "stop")},
		Result:   lockstep.Result[hastyStop](),
		New: func(_ *hastyWorld, _ *lockstep.Settings, c *hastyConfig) error {
			if c.Most < 1 || c.Most > 1000 {
				return fmt.Errorf("most: got %d, want 1 to 1000", c.Most)
			}
			return nil
		},
		Step: func(w *hastyWorld, _ *hastyConfig, turn *lockstep.Turn) {
			for i := range turn.Commands {
				switch v := turn.Commands[i].Value.(type) {
				case *hastyAdd:
					w.Sum += uint64(v.N) + 1
				case *hastyStop:
					turn.End(nil)
				}
			}
		},
	}
	return []Game{New(rules, Config(func(int) hastyConfig { return hastyConfig{Most: 10} }))}
}
