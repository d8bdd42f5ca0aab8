//go:build !js

package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// behind returns the stage as seen through a proxy that sends some headers. It needs a bubble.
func (s *stage) behind(t *testing.T, proxy string, forwarded ...string) *stage {
	there := s.from(t, proxy)
	there.client = &http.Client{Transport: withHeader{there.client.Transport, forwarded}}
	return there
}

// A withHeader sends requests with X-Forwarded-For.
type withHeader struct {
	http.RoundTripper
	forwarded []string
}

// RoundTrip implements [http.RoundTripper].
func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header["X-Forwarded-For"] = h.forwarded
	return h.RoundTripper.RoundTrip(r)
}

// Behind a trusted proxy the limits of an address hold for the client that the proxy names, and not for the proxy.
// The claims of a client itself are ignored.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8:9::/48")}
	for _, x := range []struct {
		from      string
		forwarded []string
		victim    bool // counted for 203.0.113.9
	}{
		{"203.0.113.9", nil, true},
		{"192.0.2.1", []string{"203.0.113.9"}, true},
		{"192.0.2.1", []string{"[::ffff:203.0.113.9]:4321"}, true},
		{"192.0.2.1", []string{"198.51.100.1, 203.0.113.9"}, true},
		{"192.0.2.1", []string{"198.51.100.1", "203.0.113.9"}, true},
		{"192.0.2.1", []string{"nonsense,203.0.113.9:80"}, true},
		{"192.0.2.1", []string{"203.0.113.9, 192.0.2.1"}, true},
		{"[2001:db8:9::2]", []string{"203.0.113.9,192.0.2.1"}, true},

		{"198.51.100.1", []string{"203.0.113.9"}, false},
		{"192.0.2.2", []string{"203.0.113.9"}, false},
		{"192.0.2.1", []string{"203.0.113.9, 198.51.100.1"}, false},
		{"192.0.2.1", []string{"203.0.113.9", "198.51.100.1"}, false},
		{"192.0.2.1", []string{"203.0.113.9, unknown"}, false},
		{"192.0.2.1", []string{"203.0.113.9,"}, false},
		{"192.0.2.1", nil, false},
	} {
		t.Run(fmt.Sprint(x.from, x.forwarded), func(t *testing.T) {
			inBubble(t, setup{options: server.Options{TrustedProxies: proxies}}, func(t *testing.T, s *stage) {
				there := s.behind(t, x.from, x.forwarded...)
				for range 60 {
					there.ask(t, "GET", "/matches", "", "")
				}
				status, _ := s.from(t, "203.0.113.9").ask(t, "GET", "/matches", "", "")
				if victim := status == http.StatusTooManyRequests; victim != x.victim {
					t.Errorf("after 60 requests 203.0.113.9 got %d; want it refused: %v", status, x.victim)
				}
			})
		})
	}
}

// Many clients behind a proxy are admitted, although one of them spends all budgets of its address. A ban of one is
// not a ban of all.
func TestCrowdBehindProxy(t *testing.T) {
	t.Parallel()
	o := server.Options{
		Authorizer: server.Guests{}, Limits: server.Limits{MaxPerAddress: 2}, Replays: true,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")},
	}
	inBubble(t, setup{options: o}, func(t *testing.T, s *stage) {
		const flood = "203.0.113.1"
		kicked := s.behind(t, "192.0.2.1", flood).raw(t, "guest:kim:0123456789abcdef", protocol.SessionToken{}, 0).live()
		for range 1000 {
			if c, err := s.behind(t, "192.0.2.1", flood).connect(t); err == nil {
				defer c.ws.CloseNow()
			} else if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "429") {
				t.Fatalf("got %v, want 429", err)
			}
		}
		for client, want := range map[string]int{flood: http.StatusTooManyRequests, "203.0.113.2": http.StatusOK} {
			if status, _ := s.behind(t, "192.0.2.1", client).ask(t, "GET", "/healthz", "", ""); status != want {
				t.Errorf("%s asks: got %d, want %d", client, status, want)
			}
		}
		s.do(t, func(h *host.Host) {
			if _, err := h.Bans().AddPlayer(0, kicked.welcome.Seat, 0, ""); err != nil {
				t.Error(err)
			}
		})
		for i, want := range []protocol.CloseCode{0, 0, protocol.CloseBanned} {
			there := s.behind(t, "192.0.2.1", fmt.Sprintf("203.0.113.%d", 3-i))
			if i == 2 {
				kicked.ws.CloseNow()
				time.Sleep(time.Minute)
			}
			r := there.raw(t, fmt.Sprintf("guest:g%d:0123456789abcdef%d", i, i), protocol.SessionToken{}, 0)
			if want != 0 {
				if code := r.end(); code != want {
					t.Errorf("guest %d: got %v, want %v", i, code, want)
				}
				continue
			}
			r.live()
		}
	})
}

// Bytes sent through a proxy count for the client, and the proxy may have more connections than an address.
func TestBytesThroughProxy(t *testing.T) {
	t.Parallel()
	o := server.Options{Replays: true, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}}
	inBubble(t, setup{options: o}, func(t *testing.T, s *stage) {
		const size = 16 << 20
		if err := os.WriteFile(filepath.Join(s.dir, "large.ssr"), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			c, err := s.pipes.dialFrom("192.0.2.1:1")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			defer func() {
				c.SetReadDeadline(time.Now().Add(time.Millisecond))
				if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("a connection of the proxy: got %v, want it open", err)
				}
			}()
		}
		fetch := func(client string) time.Duration {
			began := time.Now()
			there := s.behind(t, "192.0.2.1", client)
			answer, err := there.client.Get("http://server/replays/large.ssr")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if n, err := io.Copy(io.Discard, answer.Body); n != size {
				t.Fatalf("got %d bytes: %v", n, err)
			}
			return time.Since(began)
		}
		fetch("203.0.113.1")
		if took := fetch("203.0.113.1"); took < 1900*time.Millisecond {
			t.Errorf("a client was sent %d bytes again in %v, want 2 s", size, took)
		}
		if took := fetch("203.0.113.2"); took > 1100*time.Millisecond {
			t.Errorf("another client was sent %d bytes in %v, want 1 s", size, took)
		}
	})
}

// A client that could claim any address would have no limit.
func TestProxiesThatAreAll(t *testing.T) {
	for _, p := range []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"), {}} {
		if _, err := server.New(server.Options{TrustedProxies: []netip.Prefix{p}}); !errors.Is(err, server.ErrProxy) {
			t.Errorf("%v: got %v", p, err)
		}
	}
}
