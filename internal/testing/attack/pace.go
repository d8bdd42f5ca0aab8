package attack

import (
	"context"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// latePace is the delay of everything that the player sends.
	latePace = 700 * time.Millisecond

	// idlePace is how long the match must stand still before the player sends an ack.
	idlePace = 300 * time.Millisecond

	// promptPace is the number of ticks that it acknowledges in time at first.
	promptPace = 5

	// share is how much time the match may lose because of one player.
	share = 200 * time.Millisecond
)

var _ = register(&Attack{
	Row: 13, Name: "pace", About: "a player answers pings late, and acknowledges a tick only when the match waits for it, on a server that waits, slows down and adapts the input delay",
	Serve: func(string) ([]string, error) {
		return []string{"--set", "wait=10s", "--set", "slow=50", "--set", "input-delay=auto", "--set", "share=" + share.String()}, nil
	},
	Late: 2 * share, // the match waits, and its frames stay late until it has caught up
	Run: func(ctx context.Context, h *Attackers) error {
		for n := 0; ctx.Err() == nil; n++ { // the next token, once the server refuses this one
			p, err := h.join(ctx, h.Tokens.Attackers[n%attackers], protocol.SessionToken{})
			if err != nil {
				h.try("refused: " + outcome(err))
				sleep(ctx, 100*time.Millisecond)
				continue
			}
			err = h.lag(ctx, p)
			if ctx.Err() == nil {
				h.try("closed: " + outcome(err))
			}
			p.leave(context.WithoutCancel(ctx))
		}
		return nil
	},
})

// lag plays like a slow machine on a long link until the connection or ctx ends: it
// acknowledges a tick only when the match waits for it.
func (h *Attackers) lag(ctx context.Context, p *peer) error {
	type arrival struct {
		b   []byte
		due time.Time
	}
	late := make(chan arrival, 1024)
	failed := make(chan error, 1)
	for from := p.tick; p.synced == 0 || p.tick < from+promptPace; { // the match waits only for players who have been live
		if err := p.read(ctx); err != nil {
			return err
		}
		if err := p.acknowledge(ctx); err != nil {
			return err
		}
	}
	p.marks = nil
	h.try("live")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for {
			_, b, err := p.ws.Read(ctx)
			if err != nil {
				failed <- err
				return
			}
			select {
			case late <- arrival{b, time.Now().Add(latePace)}:
			case <-ctx.Done():
				return
			}
		}
	}()
	idle := time.NewTicker(idlePace)
	defer idle.Stop()
	for {
		select {
		case a := <-late:
			sleep(ctx, time.Until(a.due))
			pings, ticks := p.pings, len(p.marks)
			if err := p.take(ctx, a.b); err != nil {
				return err
			}
			if p.pings > pings {
				h.try("late pong")
			}
			if len(p.marks) > ticks {
				idle.Reset(idlePace)
			}
		case <-idle.C:
			if len(p.marks) == 0 {
				continue
			}
			m := p.marks[0]
			p.marks = p.marks[1:]
			h.try("late ack")
			if err := p.say(ctx, &protocol.Message{Kind: protocol.KindAck, Position: m.position, Tick: m.tick}); err != nil {
				return err
			}
		case err := <-failed:
			return err
		}
	}
}
