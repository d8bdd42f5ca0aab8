//go:build !js

package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Scenarios 28 to 31, P7 and P8: f of n players report false checksums: always, after a while, in turns, or of
// future ticks. No honest player is told of a desync, and the match continues.
func TestForgedChecksums(t *testing.T) {
	t.Parallel()
	for i, x := range []struct{ n, f int }{{2, 1}, {3, 1}, {3, 2}, {4, 3}} {
		if testenv.Small(t) && i%3 > 0 { // the first and the last
			continue
		}
		t.Run(fmt.Sprintf("%d of %d", x.f, x.n), func(t *testing.T) {
			list, tokens := players(x.n)
			settings := func(s *lockstep.Settings) { s.Players = uint8(x.n) }
			inBubble(t, setup{tokens: list, settings: settings, host: host.Options{Desync: host.LogDesynced}}, func(t *testing.T, s *stage) {
				var honest []*testClient
				for _, token := range tokens[x.f:] {
					honest = append(honest, s.join(t, token, wander))
				}
				for _, g := range honest {
					<-g.Ready()
				}
				forged := 0
				for i := range x.f {
					forged += s.lie(t, tokens[i], i)
				}
				time.Sleep(time.Second)
				s.agree(t, honest...)
				for i, g := range honest {
					if has[player.Desynced](g) {
						t.Errorf("honest player %d was told of a desync", i)
					}
				}
				if forged < 10*x.f {
					t.Errorf("only %d checksums were forged", forged)
				}
			})
		})
	}
}

// lie plays a player who forges checksums for a while, in one of several ways.
func (s *stage) lie(t *testing.T, token string, way int) (forged int) {
	r := s.raw(t, token, protocol.SessionToken{}, 0).live()
	for range 20 {
		at := r.tick/10*10 + 10
		r.read(func() bool { return r.tick > at })
		r.ack()
		hash := r.sums[at]
		report := &protocol.Message{Kind: protocol.KindChecksum, Tick: at, Hash: hash ^ 1}
		switch way {
		case 0: // always
		case 1: // right first
			if forged == 0 && at < r.welcome.Tick+40 {
				report.Hash = hash
				r.say(report)
				continue
			}
		default: // in turns, with ticks to come between them
			r.say(&protocol.Message{Kind: protocol.KindChecksum, Tick: at + 1000, Hash: 1})
			r.say(&protocol.Message{Kind: protocol.KindChecksum, Tick: at + 1, Hash: 1})
		}
		r.say(report)
		forged++
	}
	r.read(func() bool { return r.counts[protocol.KindDesyncReport] > 0 })
	if r.counts[protocol.KindDesyncReport] == 0 {
		t.Errorf("a liar was not found out")
	}
	r.say(&protocol.Message{Kind: protocol.KindLeave})
	r.end()
	return forged
}
