package live

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A Check is what this client knows about the checksums of a tick. A player of which it has none has agreed, or has not reported one.
type Check struct {
	Tick      uint32      `json:"tick"`
	Ours      string      `json:"ours"`      // 16 hexadecimal digits; "" if it was not compared
	Match     string      `json:"match"`     // the one that the match agrees on; "" if that is not known
	Differing []Differing `json:"differing"` // this client among them
}

// Differing is a player's checksum that is not the match's.
type Differing struct {
	Player int    `json:"player"` // the seat
	Hash   string `json:"hash"`
}

func checksOf(c *player.Client) []Check {
	all := []Check{}
	for _, k := range c.Checks() {
		to := Check{Tick: uint32(k.Tick), Differing: []Differing{}}
		if k.Ours != 0 {
			to.Ours = checksum.FormatHash(k.Ours)
		}
		if k.Match != 0 {
			to.Match = checksum.FormatHash(k.Match)
		}
		for _, d := range k.Differing {
			to.Differing = append(to.Differing, Differing{int(d.Player), checksum.FormatHash(d.Hash)})
		}
		all = append(all, to)
	}
	return all
}
