package attack

import (
	"context"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// How many attackers report wrong checksums.
const (
	lyingSpectators = 40
	lyingPlayers    = 2
)

var _ = register(&Attack{
	Row: 8, Name: "liars", About: "40 spectators and up to 2 players echo checksums, every second one falsified",
	Run: func(ctx context.Context, h *Attackers) error {
		var wait sync.WaitGroup
		for i := range lyingSpectators + lyingPlayers {
			token := h.Tokens.Watchers[i%watchers]
			if i >= lyingSpectators {
				token = h.Tokens.Attackers[i-lyingSpectators]
			}
			p, err := h.join(ctx, token, protocol.SessionToken{}) // one after the other: few connections may be unauthenticated at a time
			if err != nil {
				h.try("refused: " + outcome(err))
				continue
			}
			wait.Go(func() { h.lie(ctx, p) })
		}
		wait.Wait()
		return nil
	},
})

// lie follows the match and falsifies checksums until ctx ends or the server disconnects it.
func (h *Attackers) lie(ctx context.Context, p *peer) {
	defer p.leave(context.WithoutCancel(ctx))
	var err error
	acked, lies := p.tick, 0
	for err == nil && ctx.Err() == nil {
		if err = p.read(ctx); err != nil {
			break
		}
		if p.tick >= acked+lockstep.Tick(max(1, p.welcome.AckEvery)) {
			acked, err = p.tick, p.acknowledge(ctx)
		}
		for _, c := range p.checks {
			if lies++; lies%2 == 0 {
				c.hash ^= 1
				h.try("lie")
			}
			if err == nil {
				err = p.say(ctx, &protocol.Message{Kind: protocol.KindChecksum, Tick: c.tick, Hash: c.hash})
			}
		}
		p.checks, p.marks = p.checks[:0], p.marks[:0]
	}
	if ctx.Err() == nil {
		h.try("closed: " + outcome(err))
	}
}
