//go:build !js

package server_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A lossy makes all its connections worse at once.
type lossy struct {
	mu       sync.Mutex
	conns    []*netsim.Conn
	up, down bool
}

func (l *lossy) wrap(c net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	c2 := netsim.Wrap(c, netsim.Link{Delay: 20 * time.Millisecond})
	c2.Stall(l.up, l.down)
	l.conns = append(l.conns, c2)
	return c2
}

func (l *lossy) stall(up, down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up, l.down = up, down
	for _, c := range l.conns {
		c.Stall(up, down)
	}
}

// Scenarios 5, 6 and 7: a link that stalls in one direction, the other, or both, for a while. Other players notice
// nothing. The server disconnects a silent connection in time, the client reconnects by itself, and each of its
// commands runs once.
func TestPartitions(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name     string
		up, down bool
		span     time.Duration
		lost     bool // the connection does not survive
	}{
		{"both for 1s", true, true, time.Second, false},
		{"both for 4s", true, true, 4 * time.Second, false},
		{"both for 20s", true, true, 20 * time.Second, true},
		{"half open: both for 40s", true, true, 40 * time.Second, true},
		{"what the client says for 20s", true, false, 20 * time.Second, true},
		{"what the server says for 20s", false, true, 20 * time.Second, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			inBubble(t, setup{}, func(t *testing.T, s *stage) {
				var l lossy
				accepted := map[lockstep.Sequence]int{}
				sent := 0
				a := s.joinWith(t, client.Options{
					Options: player.Options{Token: ada, Reconnect: player.ReconnectPolicy{Attempts: 30, Total: 120 * lockstep.Second}},
					Wrap:    l.wrap,
					Sample: func(c *player.Client) {
						if c.Simulation().Tick()%10 == 0 {
							if _, err := c.Submit(&minimal.Go{X: 7, Y: 7}); err == nil {
								sent++
							}
						}
					},
					Handle: func(_ *player.Client, e any) {
						if r, ok := e.(lockstep.Receipt); ok && r.Reason == lockstep.Accepted {
							accepted[r.Sequence]++
						}
					},
				})
				b := s.join(t, bob, nil)
				<-a.Ready()
				<-b.Ready()
				time.Sleep(2 * time.Second)
				b.gap()
				l.stall(x.up, x.down)
				time.Sleep(x.span)
				lostAt := s.stats(t)
				l.stall(false, false)
				eventually(t, "it is live again", func() bool {
					st := a.status()
					return st.Stage == player.StageLive && st.Tick+10 > s.stats(t).Tick
				})
				time.Sleep(5 * time.Second)
				if got := has[player.ConnectionLost](a); got != x.lost {
					t.Errorf("connection lost: got %v, want %v", got, x.lost)
				}
				if x.lost && lostAt.Peers[host.Live] > 1 && x.span > 15*time.Second && !x.down {
					t.Errorf("after %v the server has %v", x.span, lostAt.Peers)
				}
				if worst := b.gap(); worst > 60*time.Millisecond {
					t.Errorf("the other player waited %v for a tick", worst)
				}
				a.Do(func(*player.Client) {
					for seq, n := range accepted {
						if n != 1 {
							t.Errorf("command %d was accepted %d times", seq, n)
						}
					}
					if len(accepted)+2 < sent || sent < 5 {
						t.Errorf("%d of %d commands were accepted", len(accepted), sent)
					}
				})
				s.agree(t, a, b)
			})
		})
	}
}
