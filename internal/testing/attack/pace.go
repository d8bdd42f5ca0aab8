package attack

import (
	"context"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// latePace is how late everything is that the player says.
	latePace = 700 * time.Millisecond

	// idlePace is how long the match has to stand still before the player acknowledges.
	idlePace = 300 * time.Millisecond

	// promptPace is for how many ticks it plays along at first.
	promptPace = 5

	// share is what the match may lose because of one player, as paceFlags say.
	share = 200 * time.Millisecond
)

var _ = register(&Attack{
	Row: 13, Name: "pace", About: "a player answers pings late, and acknowledges a tick when the match waits for it, where it waits, slows down and has the delay of the slowest",
	Serve: func(string) ([]string, error) {
		return []string{"--wait", "10s", "--slow", "50", "--input-delay", "auto", "--share", share.String()}, nil
	},
	Late: 2 * share, // it waits, and the time by which frames are late then stays until it has caught up
	Run: func(ctx context.Context, h *Hands) error {
		for n := 0; ctx.Err() == nil; n++ { // another one, if the server has enough of this one
			p, err := h.join(ctx, h.Tokens.Hands[n%hands], protocol.SessionToken{})
			if err != nil {
				h.try("not let in: " + outcome(err))
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

// lag plays as if the link were long and the machine slow, until the connection or
// ctx ends: it acknowledges a tick only when the match waits for it.
func (h *Hands) lag(ctx context.Context, p *peer) error {
	type arrival struct {
		b   []byte
		due time.Time
	}
	late := make(chan arrival, 1024)
	failed := make(chan error, 1)
	for from := p.tick; p.synced == 0 || p.tick < from+promptPace; { // nobody is waited for who was never live
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
