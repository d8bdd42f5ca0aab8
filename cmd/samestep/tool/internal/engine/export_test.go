//go:build !js

package engine

import (
	"context"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/attack"
)

// Attack runs an attack on a match of some seats.
func Attack(ctx context.Context, g *gameset.Playable, seats int, log io.Writer, a *attack.Attack) (*attack.Result, error) {
	return (&attacker{game: g, program: "samestep", time: time.Second, seats: seats, log: log}).one(ctx, a)
}
