//go:build !js

package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A client without attempts gives up at the first failure.
func TestReconnectOff(t *testing.T) {
	var events []any
	s := client.Dial(t.Context(), "ws://127.0.0.1:1/matches/duel/play", lockstep.MustGame(minimal.Rules()), client.Options{
		Options: player.Options{Reconnect: player.ReconnectPolicy{Attempts: -1}},
		Handle:  func(_ *player.Client, e any) { events = append(events, e) },
	})
	if err := s.Wait(); !errors.Is(err, player.ErrGaveUp) {
		t.Errorf("got %v, want %v", err, player.ErrGaveUp)
	}
	if len(events) != 3 { // Dialing, ConnectFailed, LostForGood
		t.Errorf("got %v, want three events", events)
	}
}

// A server that refuses every handshake leaves nothing behind in the client, even with wrapped connections.
func TestRefusedHandshakes(t *testing.T) {
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
		w.Write([]byte(`{"error":{"message":"no such match"}}`))
	}))
	defer web.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var events []any
	s := client.Dial(t.Context(), "ws"+strings.TrimPrefix(web.URL, "http"), lockstep.MustGame(minimal.Rules()), client.Options{
		Options: player.Options{Reconnect: player.ReconnectPolicy{First: lockstep.Millisecond, Longest: lockstep.Millisecond, Attempts: 5}},
		HTTP:    &http.Client{Transport: transport},
		Wrap:    func(c net.Conn) net.Conn { return c },
		Handle:  func(_ *player.Client, e any) { events = append(events, e) },
	})
	if err := s.Wait(); !errors.Is(err, player.ErrGaveUp) || !strings.Contains(err.Error(), "client: no such match (status 403)") {
		t.Errorf("got %v, want %v with the server's message", err, player.ErrGaveUp)
	}
	if asked.Load() != 6 || len(events) != 18 {
		t.Errorf("asked %d times, and told %d events: %v", asked.Load(), len(events), events)
	}
	if _, err := s.Submit(&minimal.Go{}); !errors.Is(err, client.ErrOver) {
		t.Errorf("after the end: got %v, want %v", err, client.ErrOver)
	}
	select {
	case <-s.Ready():
		t.Error("the session says that it was ready")
	default:
	}
}

// refusals is an http.RoundTripper that refuses every request.
type refusals struct{}

func (refusals) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }

// Clients with the same options do not all reconnect at the same time.
func TestJitter(t *testing.T) {
	game := lockstep.MustGame(minimal.Rules())
	synctest.Test(t, func(t *testing.T) {
		waits := make(map[lockstep.Time]bool)
		for range 10 {
			s := client.Dial(t.Context(), "ws://localhost/play", game, client.Options{
				Options: player.Options{Reconnect: player.ReconnectPolicy{Attempts: 1}},
				HTTP:    &http.Client{Transport: refusals{}},
				Handle: func(_ *player.Client, e any) {
					if e, ok := e.(player.Retrying); ok {
						waits[e.At] = true
					}
				},
			})
			if err := s.Wait(); !errors.Is(err, player.ErrGaveUp) {
				t.Errorf("got %v, want %v", err, player.ErrGaveUp)
			}
		}
		if len(waits) < 3 { // by chance once in 10^10 runs
			t.Errorf("ten clients wait for %v, want different times", waits)
		}
	})
}

// A session that ends while it dials cancels the attempt.
func TestEndWhileDialing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s := client.Dial(ctx, "ws://"+l.Addr().String(), lockstep.MustGame(minimal.Rules()), client.Options{})
	time.Sleep(20 * time.Millisecond)
	began := time.Now()
	cancel()
	if err := s.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("the end took %v", d)
	}
}
