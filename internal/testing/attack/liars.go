package attack

import (
	"context"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// How many lie.
const (
	lyingSpectators = 40
	lyingPlayers    = 2
)

var _ = register(&Attack{
	Row: 8, Name: "liars", About: "40 spectators and 2 players echo checksums, and lie at every second check",
	Run: func(ctx context.Context, h *Hands) error {
		var wait sync.WaitGroup
		for i := range lyingSpectators + lyingPlayers {
			token := h.Tokens.Watchers[i%watchers]
			if i >= lyingSpectators {
				token = h.Tokens.Hands[i-lyingSpectators]
			}
			p, err := h.join(ctx, token, protocol.SessionToken{}) // one after the other: few may be unknown at a time
			if err != nil {
				h.try("not let in: " + outcome(err))
				continue
			}
			wait.Go(func() { h.lie(ctx, p) })
		}
		wait.Wait()
		return nil
	},
})

// lie follows the match and lies, until ctx ends or the server has enough.
func (h *Hands) lie(ctx context.Context, p *peer) {
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
