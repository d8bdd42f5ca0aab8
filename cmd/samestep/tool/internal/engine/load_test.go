//go:build !js

package engine_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/engine"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/attack"
	"github.com/seed-49bee653/samestep/internal/testing/netload"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/internal/testing/wire"
	"github.com/seed-49bee653/samestep/kit/netsim"
)

// A load test counts what its clients get. The game has the configuration of a file.
func TestBenchNet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		game     *gameset.Playable
		override string
		want     []string
	}{
		{"units", sized(t), `{"Units":100}`, []string{`load +2 clients in 1 match`}},
		{"config", small(t), `{"Size": 200, "Coins": 3000}`, []string{`late join +live after [0-9]+ ms, with a state of [1-9][0-9] KiB;`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := loadOf(t, row.game, 2, row.override)
			b.Every, b.Time, b.Settle = 200*time.Millisecond, time.Second, 200*time.Millisecond
			r, err := b.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			r.Print(&text)
			for _, want := range append(row.want, `lost +0 connections\n`) {
				if !regexp.MustCompile("(?m)^" + want).MatchString(text.String()) {
					t.Errorf("want %q in\n%s", want, text.String())
				}
			}
		})
	}
}

// Real TCP and real UDP lose 3 % of their packets between the network of a server and that of its players. Frames that come in
// datagrams are much less late, and the match is the same for all.
func TestWire(t *testing.T) {
	if os.Getenv("SAMESTEP_NAMESPACES") == "" {
		t.Skip("SAMESTEP_NAMESPACES is not set: browsers in other tests load again when a network comes or goes")
	}
	link, err := netsim.Parse("delay=40ms loss=3% seed=5")
	if err != nil {
		t.Fatal(err)
	}
	w, err := wire.NewNamespace(link)
	testenv.Or(t, "the right to make network namespaces", err)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	b := loadOf(t, sized(t), 8, `{"Units":100}`)
	b.Every, b.Time, b.Durability = time.Second, 8*time.Second, "interval"
	r, err := b.CompareWire(t.Context(), link, dir)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	r.Print(&text)
	t.Logf("\n%s", &text)
	if s, d := r.WebSocket.Behind.P99MS, r.Datagrams.Behind.P99MS; !r.Real || 2*d > s {
		t.Errorf("1 of 100 frames is late by %.1f ms with datagrams, and by %.1f ms without: want less than half", d, s)
	}
	for _, s := range []netload.SideResult{r.WebSocket, r.Datagrams} {
		if s.Agreed == 0 || s.Differing > 0 || s.Lost > 0 {
			t.Errorf("got %+v, want equal checksums and no lost connection", s)
		}
	}
	if r.WebSocket.ByDatagrams != 0 || r.Datagrams.ByDatagrams != 8 {
		t.Errorf("%d and %d players have datagrams, want 0 and 8", r.WebSocket.ByDatagrams, r.Datagrams.ByDatagrams)
	}
	replays, err := filepath.Glob(filepath.Join(dir, "*", "matches", "live", "match-1-*.ssr"))
	if err != nil || len(replays) != 2 {
		t.Fatal(err, replays)
	}
	for _, file := range replays { // which end where the servers were killed
		text.Reset()
		tooltest.Run(t.Context(), []string{"samestep", "replay", "verify", file}, &text, &text)
		if !strings.Contains(text.String(), "equal, 0 differ") || !strings.Contains(text.String(), "true up to tick ") {
			t.Errorf("verify %s: got %s", file, &text)
		}
	}
}

// loadOf is a match of some clients.
func loadOf(t *testing.T, g *gameset.Playable, clients int, override string) *netload.Bench {
	t.Helper()
	order, err := g.AnyCommand(uint8(clients), []byte(override))
	if err != nil {
		t.Fatal(err)
	}
	return &netload.Bench{Game: g.Game, Order: order, Program: "samestep", Clients: clients, Room: clients, Rate: 20, Override: []byte(override)}
}

// sized is the first game of samestep.
func sized(t *testing.T) *gameset.Playable {
	t.Helper()
	g, err := gameset.New(skirmish.Rules())
	if err != nil {
		t.Fatal(err)
	}
	g.Maker = skirmish.NewPlayer
	g.Sized = func(players uint8, units uint16) any { c := skirmish.Sized(int(players), int(units)); return &c }
	g.Usual = func(players uint8) any { return g.Sized(players, 400) }
	return g
}

// small is its second one.
func small(t *testing.T) *gameset.Playable {
	t.Helper()
	g, err := gameset.New(minimal.Rules())
	if err != nil {
		t.Fatal(err)
	}
	g.Maker = minimal.NewBot
	g.Usual = func(players uint8) any { c := minimal.Usual(int(players)); return &c }
	return g
}

func TestMain(m *testing.M) {
	gameset.RulesOfUser = "rules-of-tests"
	tooltest.Main(m, tooltest.Programs{"samestep": {
		Main: func() { tool.Main(games.All()...) },
		Run: func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
			return tool.Run(ctx, args, stdout, stderr, games.All()...)
		},
	}})
}

// Control: an attack that succeeds is reported as a failure. This server accepts the foreign host.
func TestAttackControl(t *testing.T) {
	t.Parallel()
	hosts, err := attack.Named("hosts")
	if err != nil {
		t.Fatal(err)
	}
	own := *hosts
	own.Serve = func(string) ([]string, error) { return []string{"--set", "allowed-host=rebound.example"}, nil }
	r, err := engine.Attack(t.Context(), sized(t), 16, io.Discard, &own)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the attack succeeded: /matches", "got 101", "got 200"} {
		if !strings.Contains(strings.Join(r.Failures, "\n"), want) {
			t.Errorf("want %q in %q", want, r.Failures)
		}
	}
	if err := attack.Failure([]*attack.Result{r}); err == nil || !strings.Contains(err.Error(), "did not withstand: hosts") {
		t.Errorf("got %v, want a failure", err)
	}
}
