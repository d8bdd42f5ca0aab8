//go:build !js

// Package netload puts a server under load: it starts "samestep serve" in another process, plays in all its matches, and measures
// what a client costs and how late frames are. A Bench also compares both transports behind equal bad links. It is the rig of the
// verb bench net, and its server that of attack.
package netload

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/internal/testing/wire"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Bench is one run of bench net.
type Bench struct {
	Game    *lockstep.Game
	Order   *lockstep.Command // that each client gives, again and again
	Program string            // to start the server; "" for this one

	Clients, Room, Rate int
	Every, Time         time.Duration
	Relay               bool
	Durability          string        // "" for no replays
	Settle              time.Duration // after connections were made, until all are live

	Assets   string // the folder of --assets, or ""
	Override []byte // the configuration of --config, or nothing
}

func (b *Bench) matches() int { return (b.Clients + b.Room - 1) / b.Room }

// Run runs it against servers, and prints what it has measured.
func (b *Bench) Run(ctx context.Context) (*Result, error) {
	dir, err := os.MkdirTemp("", "samestep-bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tokens, err := b.writeTokens(filepath.Join(dir, "tokens"))
	if err != nil {
		return nil, err
	}
	s, err := b.startServer(dir, nil)
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	auth := protocol.NewAuth(b.Game)
	guests, err := b.connect(ctx, auth, b.Clients, func(i int) (string, string) {
		return fmt.Sprintf("%s/matches/match-%d/play", s.URL, i/b.Room+1), tokens[i]
	})
	if err != nil {
		return nil, err
	}
	defer hangUp(guests)
	time.Sleep(b.Settle) // until all are live
	for _, g := range guests {
		if err := g.lasts(); err != nil {
			return nil, err
		}
		g.measure()
	}
	cpu, from := s.CPU(), time.Now()
	time.Sleep(b.Time)
	due := dueBetween(from, time.Now(), b.Rate)
	took, used := due.to.Sub(from), s.CPU()-cpu
	for _, g := range guests {
		if err := g.lasts(); err != nil {
			return nil, err
		}
		g.stop()
	}
	time.Sleep(grace)
	r := &Result{Clients: b.Clients, Matches: b.matches(), Seconds: took.Seconds(), ResidentMemoryMB: float64(s.Resident()) / 1e6}
	r.add(due, guests)
	r.ServerCPU = 100 * used.Seconds() / took.Seconds()
	r.PerClient = r.ServerCPU / float64(b.Clients)
	last := fmt.Sprintf("%s/matches/match-%d/play", s.URL, b.matches()+1)
	return r, r.lateJoin(ctx, b.Game, last, tokens[len(tokens)-1])
}

// writeTokens writes a token for each seat and one for the late joiner, and returns them in this order.
func (b *Bench) writeTokens(path string) ([]string, error) {
	var list strings.Builder
	var tokens []string
	for i := range b.matches() * b.Room {
		token := drawToken()
		tokens = append(tokens, token)
		fmt.Fprintf(&list, "player %d p%d match-%d %s\n", i%b.Room, i, i/b.Room+1, token)
	}
	joiner := drawToken()
	tokens = append(tokens, joiner)
	fmt.Fprintf(&list, "player - joiner - %s\n", joiner)
	return tokens, os.WriteFile(path, []byte(list.String()), 0o600)
}

// startServer starts a server without limits on the load, behind a wire unless w is nil. dir has the tokens and gets the replays.
func (b *Bench) startServer(dir string, w *wire.Wire) (*Server, error) {
	program := b.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	args := []string{
		"--tokens", filepath.Join(dir, "tokens"), "--set", "max-per-address=100000", "--set", "max-unauthenticated=100000",
		"--matches", strconv.Itoa(b.matches() + 1), "--players", strconv.Itoa(b.Room), "--tick-rate", strconv.Itoa(b.Rate), "--game", b.Game.Name(),
	}
	if b.Durability == "" {
		args = append(args, "--dir", "")
	} else {
		args = append(args, "--dir", filepath.Join(dir, "matches"), "--durability", b.Durability)
	}
	if len(b.Override) > 0 {
		args = append(args, "--config", string(b.Override))
	}
	if b.Assets != "" {
		args = append(args, "--set", "assets="+b.Assets)
	}
	if b.Relay {
		args = append(args, "--set", "relay=true")
	}
	if w == nil {
		return StartServer(program, os.Stderr, args)
	}
	args = append(args, "--listen", w.Host+":0", "--set", "datagrams-public="+w.Public, "--tls-cert", filepath.Join(dir, wireCert), "--tls-key", filepath.Join(dir, wireKey))
	return startAs(append(w.Enter, program), os.Stderr, args)
}

// connect opens n connections. where returns the URL and the token of each.
func (b *Bench) connect(ctx context.Context, auth *protocol.Auth, n int, where func(i int) (url, token string)) ([]*loadGuest, error) {
	guests := make([]*loadGuest, n)
	errs := each(n, func(i int) (err error) {
		a := *auth
		var url string
		url, a.Token = where(i)
		if guests[i], err = newLoadGuest(ctx, url, &a, b.Order, b.Rate, b.Every); err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		return nil
	})
	if err := cmp.Or(errs...); err != nil {
		hangUp(guests)
		return nil, err
	}
	return guests, nil
}

// The files of a server's certificate and its key, in a side's directory.
const (
	wireCert = "cert.pem"
	wireKey  = "key.pem"
)

// each does something for each of n clients, for at most 32 at a time.
func each(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var all errgroup.Group
	all.SetLimit(32)
	for i := range n {
		all.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	all.Wait()
	return errs
}

func hangUp(guests []*loadGuest) {
	for _, g := range guests {
		if g != nil {
			g.ws.CloseNow()
		}
	}
}

// A Result is the result of a load test.
type Result struct {
	Clients          int     `json:"clients"`
	Matches          int     `json:"matches"`
	Seconds          float64 `json:"seconds"`
	ServerCPU        float64 `json:"server_cpu_percent"`            // of one core; 0 if it is unknown
	PerClient        float64 `json:"server_cpu_percent_per_client"` // of one core
	Frames           int     `json:"frames"`                        // that arrived
	Expected         int     `json:"frames_expected"`
	LatenessP50MS    float64 `json:"lateness_p50_ms"` // of a frame, compared with the promptest one of its client
	LatenessP99MS    float64 `json:"lateness_p99_ms"`
	BytesPerFrame    float64 `json:"bytes_per_frame"` // all payload of the socket
	Commands         int     `json:"commands"`
	Accepted         int     `json:"accepted"`
	CommandP50MS     float64 `json:"command_p50_ms"` // from a command to its receipt
	CommandP99MS     float64 `json:"command_p99_ms"`
	ConnectionsLost  int     `json:"connections_lost"`
	ResidentMemoryMB float64 `json:"server_resident_mb"`
	JoinMS           float64 `json:"late_join_ms"`    // from dialing until the simulation is live
	ResumeMS         float64 `json:"resume_ms"`       // from the new socket until the stream continues
	StateBytes       uint32  `json:"late_join_bytes"` // of the keyframe
}

// Print prints the result for people.
func (r *Result) Print(w io.Writer) {
	line := liner(w)
	line("load", "%s in %s, for %.0f s", words.Count(r.Clients, "client"), words.Count(r.Matches, "match"), r.Seconds)
	line("server", "%.1f %% of a core, %.4f %% a client; %.0f MB resident", r.ServerCPU, r.PerClient, r.ResidentMemoryMB)
	line("frames", "%d of the %d that were due arrived; late by %.1f ms (median), %.1f ms (99 %%); %.1f bytes a frame", r.Frames, r.Expected, r.LatenessP50MS, r.LatenessP99MS, r.BytesPerFrame)
	line("commands", "%d, %d accepted; answered after %.1f ms (median), %.1f ms (99 %%)", r.Commands, r.Accepted, r.CommandP50MS, r.CommandP99MS)
	line("lost", "%s", words.Count(r.ConnectionsLost, "connection"))
	line("late join", "live after %.0f ms, with a state of %s; after a lost connection the stream continued %.1f ms after the new socket",
		r.JoinMS, words.Size(int64(r.StateBytes)), r.ResumeMS)
}

// add sums up the measurements of the players.
func (r *Result) add(due *dueTime, players []*loadGuest) {
	var late, answers []time.Duration
	bytes := 0
	for _, g := range players {
		frames, missing := r.close(due, g)
		r.Expected, r.Frames = r.Expected+len(frames), r.Frames+len(frames)-missing
		late, answers = append(late, frames...), append(answers, g.answers...)
		r.Commands += g.commands
		r.Accepted += g.accepted
		bytes += g.bytes
	}
	r.LatenessP50MS, r.LatenessP99MS = percentiles(late)
	r.CommandP50MS, r.CommandP99MS = percentiles(answers)
	r.BytesPerFrame = float64(bytes) / float64(max(r.Frames, 1))
}

// close ends the measurements of a guest, and returns how late its frames were, and how many did not arrive.
func (r *Result) close(due *dueTime, g *loadGuest) (late []time.Duration, missing int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.measuring = false
	if g.err != nil {
		r.ConnectionsLost++
	}
	return due.late(g.arrivals)
}

// lateJoin measures how long a client that simulates takes to join an empty match, and to come back after a lost connection.
func (r *Result) lateJoin(ctx context.Context, g *lockstep.Game, url, token string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	synced, back := make(chan time.Time, 1), make(chan time.Duration, 1)
	var connected time.Time
	s := client.Dial(ctx, url, g, client.Options{Options: player.Options{Token: token}, Handle: func(_ *player.Client, e any) {
		switch e := e.(type) {
		case player.Connected:
			connected = time.Now()
		case player.SyncProgress:
			r.StateBytes = max(r.StateBytes, e.TotalBytes)
		case player.Synced:
			select {
			case synced <- time.Now():
			default:
			}
		case player.StreamResumed:
			back <- time.Since(connected)
		}
	}})
	from := time.Now()
	select {
	case at := <-synced:
		r.JoinMS = milliseconds(at.Sub(from))
	case <-ctx.Done():
		return fmt.Errorf("late join: %w", ctx.Err())
	}
	if err := s.Cut(); err != nil {
		return err
	}
	select {
	case d := <-back:
		r.ResumeMS = milliseconds(d)
	case <-ctx.Done():
		return fmt.Errorf("resume: %w", ctx.Err())
	}
	cancel()
	s.Wait()
	return nil
}

// drawToken returns a new token.
func drawToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// liner returns a function that prints a line with a name.
func liner(w io.Writer) func(name, format string, args ...any) {
	return func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
}
