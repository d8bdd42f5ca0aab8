//go:build !js

package netload

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/wire"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

const (
	// wireJoinTime is how long the players of a side may take to join.
	wireJoinTime = time.Minute

	// wireSettleTime is the time until the measurement, in which connections get to know their path.
	wireSettleTime = 5 * time.Second
)

// A wireSide is a server with its players behind a wire of their own.
type wireSide struct {
	datagrams bool
	wire      *wire.Wire
	server    *Server
	tokens    []string // of the seats
	players   []*wirePlayer

	// From the beginning of the measurement to its end.
	from, to            time.Time
	cpu                 time.Duration
	toServer, toPlayers int64
}

// CompareWire plays the same matches behind two equal links at once, with WebSockets only and with datagrams. dir gets the files of both servers.
func (b *Bench) CompareWire(ctx context.Context, l netsim.Link, dir string) (*WireResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &WireResult{Link: l.String(), Clients: b.Clients, Matches: b.matches(), TickRate: b.Rate}
	sides := []*wireSide{{}, {datagrams: true}}
	for i, s := range sides {
		defer s.close()
		if err := s.open(b, l, filepath.Join(dir, strconv.Itoa(i))); err != nil {
			return nil, err
		}
		if err := s.join(ctx, b); err != nil {
			return nil, err
		}
		r.Real = s.wire.Real
	}
	if err := sleep(ctx, wireSettleTime); err != nil {
		return nil, err
	}
	for _, s := range sides {
		s.measure()
	}
	if err := sleep(ctx, b.Time); err != nil {
		return nil, err
	}
	for _, s := range sides {
		s.stop()
	}
	if err := sleep(ctx, grace); err != nil {
		return nil, err
	}
	r.WebSocket, r.Datagrams = sides[0].result(b), sides[1].result(b)
	r.Seconds = b.Time.Seconds()
	return r, nil
}

// sleep waits for a time, or for the end of ctx, whose cause it returns.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// open makes the wire, and starts the server at its end. dir is that of the side.
func (s *wireSide) open(b *Bench, l netsim.Link, dir string) (err error) {
	if s.wire, err = wire.NewNamespace(l); errors.Is(err, wire.ErrNamespace) {
		s.wire, err = wire.NewProxy(l)
	}
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if s.tokens, err = b.writeTokens(filepath.Join(dir, "tokens")); err != nil {
		return err
	}
	if err := writeCertificate(dir); err != nil {
		return err
	}
	s.server, err = b.startServer(dir, s.wire)
	return err
}

// join lets all players join.
func (s *wireSide) join(ctx context.Context, b *Bench) error {
	ctx, cancel := context.WithTimeout(ctx, wireJoinTime)
	defer cancel()
	near, err := s.wire.Join(s.server.Address())
	if err != nil {
		return err
	}
	s.players = make([]*wirePlayer, b.Clients)
	return errors.Join(each(b.Clients, func(i int) error {
		p := newWirePlayer(b.Game, fmt.Sprintf("wss://%s/matches/match-%d/play", near, i/b.Room+1), s.tokens[i], b.Order.Value, b.Every, s.datagrams)
		s.players[i] = p
		if err := p.await(ctx, s.datagrams); err != nil {
			return fmt.Errorf("player %d: %w", i, err)
		}
		return nil
	})...)
}

func (s *wireSide) measure() {
	for _, p := range s.players {
		p.measure()
	}
	s.from, s.cpu = time.Now(), s.server.CPU()
	s.toServer, s.toPlayers = s.wire.Bytes()
}

// stop ends the time in which frames are due.
func (s *wireSide) stop() {
	s.to, s.cpu = time.Now(), s.server.CPU()-s.cpu
	toServer, toPlayers := s.wire.Bytes()
	s.toServer, s.toPlayers = toServer-s.toServer, toPlayers-s.toPlayers
}

// result sums up the measurements of the players.
func (s *wireSide) result(b *Bench) (r SideResult) {
	due := dueBetween(s.from, s.to, b.Rate)
	var late, executions []time.Duration
	for _, p := range s.players {
		p.session.Do(func(c *player.Client) {
			p.measuring = false
			st := c.Status()
			frames, missing := due.late(p.arrivals)
			r.Expected, r.Frames = r.Expected+len(frames), r.Frames+len(frames)-missing
			late, executions = append(late, frames...), append(executions, p.executions...)
			r.Commands, r.Accepted, r.Lost = r.Commands+p.commands, r.Accepted+p.accepted, r.Lost+p.lost
			r.Agreed, r.Differing = r.Agreed+st.Agreed, r.Differing+st.Differing
			r.RoundTripMS += float64(st.RoundTrip) / 1000 / float64(len(s.players))
			if st.Datagrams {
				r.ByDatagrams++
			}
		})
	}
	each := s.to.Sub(s.from).Seconds() * float64(len(s.players))
	r.ToServer, r.ToPlayer = float64(s.toServer)/each, float64(s.toPlayers)/each
	r.ServerCPU = 100 * s.cpu.Seconds() / each
	r.Lateness, r.Behind, r.Execution = spreadOf(late), spreadOf(behindFirst(s.players, b.Room)), spreadOf(executions)
	return r
}

// close ends what the side has begun.
func (s *wireSide) close() {
	var wait sync.WaitGroup
	for _, p := range s.players {
		if p != nil {
			wait.Go(p.close)
		}
	}
	wait.Wait()
	if s.server != nil {
		s.server.Stop()
	}
	if s.wire != nil {
		s.wire.Close()
	}
}

// writeCertificate writes a certificate: the comparison is of encrypted connections, as datagrams always are.
func writeCertificate(dir string) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, public, private)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{wireCert: {Type: "CERTIFICATE", Bytes: cert}, wireKey: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// A WireResult compares both transports behind the same link.
type WireResult struct {
	Link      string     `json:"wire"`
	Real      bool       `json:"namespaces"` // TCP and UDP of the system; otherwise a proxy simulates what TCP does
	Clients   int        `json:"clients"`    // of each side
	Matches   int        `json:"matches"`
	TickRate  int        `json:"tick_rate"`
	Seconds   float64    `json:"seconds"`
	WebSocket SideResult `json:"websocket"`
	Datagrams SideResult `json:"datagrams"`
}

// A SideResult is what the players of one side have seen.
type SideResult struct {
	Frames      int     `json:"frames"` // that arrived
	Expected    int     `json:"frames_expected"`
	Lateness    spread  `json:"lateness"`         // of a frame, compared with the promptest one of its player
	Behind      spread  `json:"behind_the_first"` // of a frame, compared with the player of its match who had it first
	Commands    int     `json:"commands"`
	Accepted    int     `json:"accepted"`
	Execution   spread  `json:"command_to_execution"`
	ToServer    float64 `json:"bytes_to_server"`  // a player and second, with the headers of IP
	ToPlayer    float64 `json:"bytes_to_player"`  // a player and second, with the headers of IP
	ServerCPU   float64 `json:"server_cpu"`       // percent of a core for each player; 0 if it is unknown
	RoundTripMS float64 `json:"round_trip_ms"`    // that players measure over the WebSocket
	ByDatagrams int     `json:"with_datagrams"`   // players who have datagrams at the end
	Lost        int     `json:"connections_lost"` // WebSockets
	Agreed      int     `json:"checksums_agreed"`
	Differing   int     `json:"checksums_differing"`
}

// A spread says how a time varies.
type spread struct {
	P50MS     float64 `json:"p50_ms"`
	P95MS     float64 `json:"p95_ms"`
	P99MS     float64 `json:"p99_ms"`
	LongestMS float64 `json:"longest_ms"`
}

func spreadOf(d []time.Duration) (s spread) {
	if s.P50MS, s.P99MS = percentiles(d); len(d) > 0 {
		s.P95MS, s.LongestMS = milliseconds(d[len(d)*95/100]), milliseconds(d[len(d)-1]) // they are in order by now
	}
	return s
}

// text returns one of the times, or a dash if nothing was measured: the rules may refuse every command.
func (s *spread) text(of func(*spread) float64) string {
	if *s == (spread{}) {
		return "–"
	}
	return fmt.Sprintf("%.1f ms", of(s))
}

// behindFirst returns how long after the first player of its match each player had a frame, so that a late server does not count.
func behindFirst(players []*wirePlayer, room int) (behind []time.Duration) {
	for match := range slices.Chunk(players, room) {
		first := map[lockstep.Tick]time.Time{}
		for _, p := range match {
			for _, a := range p.arrivals {
				if at, ok := first[a.tick]; !ok || a.at.Before(at) {
					first[a.tick] = a.at
				}
			}
		}
		for _, p := range match {
			for _, a := range p.arrivals {
				behind = append(behind, a.at.Sub(first[a.tick]))
			}
		}
	}
	return behind
}

// Print prints the comparison for people.
func (r *WireResult) Print(w io.Writer) {
	line := liner(w)
	how := "a proxy: each lost packet of a stream is a stall, as of TCP"
	if r.Real {
		how = "network namespaces: real TCP and UDP"
	}
	line("wire", "%s; %s", r.Link, how)
	line("load", "twice %s in %s, %s a second, for %.0f s", words.Count(r.Clients, "player"), words.Count(r.Matches, "match"), words.Count(r.TickRate, "tick"), r.Seconds)
	fmt.Fprintln(w)
	row := func(name string, value func(s *SideResult) string) {
		fmt.Fprintf(w, "%-38s %14s %14s\n", name, value(&r.WebSocket), value(&r.Datagrams))
	}
	fmt.Fprintf(w, "%-38s %14s %14s\n", "", "WebSocket only", "with datagrams")
	for _, t := range []struct {
		name string
		of   func(s *SideResult) *spread
	}{{"frames late", func(s *SideResult) *spread { return &s.Lateness }}, {"behind the first", func(s *SideResult) *spread { return &s.Behind }}, {"command to execution", func(s *SideResult) *spread { return &s.Execution }}} {
		for _, p := range []struct {
			name string
			of   func(s *spread) float64
		}{
			{"median", func(s *spread) float64 { return s.P50MS }}, {"95 %", func(s *spread) float64 { return s.P95MS }},
			{"99 %", func(s *spread) float64 { return s.P99MS }}, {"longest", func(s *spread) float64 { return s.LongestMS }},
		} {
			row(t.name+", "+p.name, func(s *SideResult) string { return t.of(s).text(p.of) })
		}
	}
	row("frames, of those that were due", func(s *SideResult) string { return fmt.Sprintf("%d of %d", s.Frames, s.Expected) })
	row("commands accepted", func(s *SideResult) string { return fmt.Sprintf("%d of %d", s.Accepted, s.Commands) })
	row("bytes to a player, a second", func(s *SideResult) string { return fmt.Sprintf("%.0f", s.ToPlayer) })
	row("bytes to the server, of a player", func(s *SideResult) string { return fmt.Sprintf("%.0f", s.ToServer) })
	row("server's CPU, of a core, for a player", func(s *SideResult) string { return fmt.Sprintf("%.3f %%", s.ServerCPU) })
	row("round trip of the WebSocket", func(s *SideResult) string { return fmt.Sprintf("%.1f ms", s.RoundTripMS) })
	row("players with datagrams at the end", func(s *SideResult) string { return fmt.Sprint(s.ByDatagrams) })
	row("connections lost", func(s *SideResult) string { return fmt.Sprint(s.Lost) })
	row("checksums equal, and not", func(s *SideResult) string { return fmt.Sprintf("%d, %d", s.Agreed, s.Differing) })
	fmt.Fprintln(w, "\nFrames are late compared with the promptest one of their player, and behind the first player of the match who had them.")
	if r.Real {
		fmt.Fprintln(w, "Bytes are those of all packets of IP, with those that only acknowledge.")
	} else {
		fmt.Fprintln(w, "Bytes are those of packets with the headers of IP, without those of TCP that only acknowledge.")
	}
}
