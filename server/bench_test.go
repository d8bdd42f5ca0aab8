//go:build !js

package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// BenchmarkFanOut is a match at 1000 ticks a second with spectators over connections in memory. An op is one
// message to one of them, with an occasional ack. It measures both ends.
//
//	go test -run '^$' -bench FanOut -benchmem ./server
func BenchmarkFanOut(b *testing.B) {
	for _, peers := range []int{8, 64, 256} {
		b.Run(fmt.Sprintf("peers=%d", peers), func(b *testing.B) { benchFanOut(b, peers) })
	}
}

func benchFanOut(b *testing.B, peers int) {
	s, err := server.New(server.Options{
		AllowedHosts: []string{"server"}, Limits: server.Limits{MaxPerAddress: peers, MaxUnauthenticated: peers}, Host: host.Options{AnonymousSpectators: true, MaxSpectators: peers, MaxConnecting: peers},
	})
	if err != nil {
		b.Fatal(err)
	}
	game := lockstep.MustGame(minimal.Rules())
	settings := lockstep.DefaultSettings(1)
	settings.Seed = 1
	settings.TickMicros = lockstep.TickPeriod(1000)
	if _, err := s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: settings, Config: &minimal.Config{Size: 9}}); err != nil {
		b.Fatal(err)
	}
	l := newMemoryListener()
	web := server.HTTPServer("", s)
	go web.Serve(l)
	dial := func(context.Context, string, string) (net.Conn, error) { return l.dial() }
	hc := &http.Client{Transport: &http.Transport{DialContext: dial}}
	got := make(chan int, peers)
	stop := make(chan struct{})
	for range peers {
		ws, _, err := websocket.Dial(b.Context(), "ws://server/matches/duel/play", &websocket.DialOptions{
			HTTPClient: hc, Subprotocols: []string{server.Subprotocol},
		})
		if err != nil {
			b.Fatal(err)
		}
		go follow(ws, game, got, stop)
	}
	for range peers {
		<-got // each has its state
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		<-got
	}
	b.StopTimer()
	close(stop)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		b.Error(err)
	}
	web.Close()
}

// follow watches a match with a player.Client.
func follow(ws *websocket.Conn, game *lockstep.Game, got chan<- int, stop <-chan struct{}) {
	defer ws.CloseNow()
	ws.SetReadLimit(protocol.MaxServerMessage)
	c := player.New(game, player.Options{Pacing: player.PacingOptions{AsTheyCome: true}})
	began := time.Now()
	now := func() lockstep.Time { return lockstep.Time(time.Since(began).Microseconds()) }
	c.Advance(now())
	c.Connected(now())
	var in, out []byte
	for {
		if out = c.Send(out[:0]); len(out) > 0 && ws.Write(context.Background(), websocket.MessageBinary, out) != nil {
			return
		}
		_, r, err := ws.Reader(context.Background())
		if err != nil {
			return
		}
		in = in[:0]
		for {
			if len(in) == cap(in) {
				in = append(in, make([]byte, 4096)...)[:len(in)]
			}
			n, err := r.Read(in[len(in):cap(in)])
			in = in[:len(in)+n]
			if err != nil {
				break
			}
		}
		c.Ready()
		c.Receive(now(), in)
		c.Advance(now())
		if c.Simulation() == nil {
			continue
		}
		select {
		case got <- 1:
		case <-stop:
			return
		}
	}
}

// BenchmarkMatchMemory tells the bytes of a match of 8 seats with nobody in it, of a game with a state of a few bytes:
// the engine's share.
//
//	go test -run '^$' -bench MatchMemory -benchtime 1x ./server
func BenchmarkMatchMemory(b *testing.B) {
	const matches = 200
	game := lockstep.MustGame(minimal.Rules())
	for range b.N {
		b.StopTimer()
		s, err := server.New(server.Options{Limits: server.Limits{IdleMatch: -1}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		before := liveHeap()
		b.StartTimer()
		for i := range matches {
			spec := server.MatchSpec{Name: fmt.Sprint("m", i), Game: game, Settings: lockstep.DefaultSettings(8), Config: &minimal.Config{Size: 20}, Invite: true}
			if _, err := s.Create(spec); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(liveHeap()-before)/matches, "B/match")
		b.StopTimer()
		if err := s.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// liveHeap returns the bytes of live objects.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
