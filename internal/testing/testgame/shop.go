package testgame

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The shop: players buy goods. Two purchases of one tick may cost more than a player has.
type (
	Shop struct {
		Coins  []uint32 // by player
		Bought []uint32
	}
	ShopConfig struct{ Coins uint32 } // of each player
	Buy        struct{ Price uint32 }
	ShopSight  struct{ Coins, Bought uint32 } // of the viewer
)

func (b *Buy) check(coins uint32) error {
	if b.Price > coins {
		return fmt.Errorf("got %d coins, want %d", coins, b.Price)
	}
	return nil
}

// ShopRules are the rules of the shop. Without views, Validate refuses what is too expensive; with them, the view does.
func ShopRules(views bool) lockstep.Rules[Shop, ShopConfig] {
	r := lockstep.Rules[Shop, ShopConfig]{
		Name: "shop", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[Buy](1, "buy")},
		New: func(w *Shop, s *lockstep.Settings, c *ShopConfig) error {
			w.Coins, w.Bought = make([]uint32, s.Players), make([]uint32, s.Players)
			for p := range w.Coins {
				w.Coins[p] = c.Coins
			}
			return nil
		},
		Step: func(w *Shop, _ *ShopConfig, t *lockstep.Turn) {
			for i := range t.Commands {
				c := &t.Commands[i]
				buy, ok := c.Value.(*Buy)
				if !ok {
					continue
				}
				if err := buy.check(w.Coins[c.Player]); err != nil {
					t.Refuse(c, "no money left: "+err.Error())
					continue
				}
				w.Coins[c.Player] -= buy.Price
				w.Bought[c.Player]++
			}
		},
		Validate: func(w *Shop, _ *ShopConfig, c *lockstep.Command) error {
			return c.Value.(*Buy).check(w.Coins[c.Player])
		},
	}
	if views {
		r.Validate = nil
		r.View = lockstep.View(func(w *Shop, _ *ShopConfig, viewer lockstep.Viewer, v *ShopSight) error {
			if viewer.As == lockstep.AsPlayer {
				*v = ShopSight{w.Coins[viewer.Number], w.Bought[viewer.Number]}
			}
			return nil
		}, func(v *ShopSight, c *lockstep.Command) error { return c.Value.(*Buy).check(v.Coins) })
	}
	return r
}
