package testgame

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Tiles is the state of a small editor of maps: players paint tiles of a map that is an asset.
type Tiles struct {
	Version uint32 // of the map: the number of changes
	Painted []uint8
	Steps   uint32 // sum over all ticks of a tile of the asset, so that a wrong asset would differ at once
}

// TilesConfig lists the map and others files, which only count.
type TilesConfig struct {
	Map    lockstep.Asset
	Others []lockstep.Asset

	tiles []byte `state:"derived"` // the content of Map
}

// Paint changes a tile of the version of the map that the player has seen.
type Paint struct {
	Version uint32
	At      uint16
	Tile    uint8
}

// MaxTiles is the largest map, in tiles.
const MaxTiles = 1 << 16

// TilesRules returns the rules of the editor.
func TilesRules() lockstep.Rules[Tiles, TilesConfig] {
	return lockstep.Rules[Tiles, TilesConfig]{
		Name: "tiles", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[Paint](1, "paint")},
		Assets:   func(c *TilesConfig) []lockstep.Asset { return append([]lockstep.Asset{c.Map}, c.Others...) },
		Load: func(c *TilesConfig, contents [][]byte) error {
			if len(contents[0]) > MaxTiles {
				return fmt.Errorf("got a map of %d tiles, want at most %d", len(contents[0]), MaxTiles)
			}
			c.tiles = contents[0]
			return nil
		},
		New: func(t *Tiles, _ *lockstep.Settings, c *TilesConfig) error {
			t.Painted = append(t.Painted, c.tiles...)
			return nil
		},
		Step: func(t *Tiles, c *TilesConfig, turn *lockstep.Turn) {
			t.Steps += uint32(c.tiles[int(turn.Tick)%len(c.tiles)])
			for i := range turn.Commands {
				if p, ok := turn.Commands[i].Value.(*Paint); ok && t.refuse(p) == nil {
					t.Painted[p.At] = p.Tile
					t.Version++
				}
			}
		},
		Validate: func(t *Tiles, _ *TilesConfig, c *lockstep.Command) error {
			if p, ok := c.Value.(*Paint); ok {
				return t.refuse(p)
			}
			return nil
		},
	}
}

// refuse returns an error for a change of an old version, or outside the map. Step asks again, because two changes of one
// version may be in one tick.
func (t *Tiles) refuse(p *Paint) error {
	if p.Version != t.Version {
		return fmt.Errorf("stale: got version %d, the map has version %d", p.Version, t.Version)
	}
	if int(p.At) >= len(t.Painted) {
		return fmt.Errorf("tile %d, want one below %d", p.At, len(t.Painted))
	}
	return nil
}
