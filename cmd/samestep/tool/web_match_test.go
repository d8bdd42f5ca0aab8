//go:build !js

package tool

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/desyncs"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/minimal/frontend"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// duelists is Skirmish as the program samestep has it, with bots to choose.
func duelists() Game {
	return New(skirmish.Rules(), NamedBot("normal", skirmish.Normal.NewPlayer), NamedBot("easy", skirmish.Easy.NewPlayer), NamedBot("hard", skirmish.Hard.NewPlayer),
		Config(skirmish.Opening), Units(skirmish.Sized), Page(web.Page, map[string]string{"skirmish": console.Module + "/examples/skirmish/web/wasm"}))
}

// servedPage runs a verb that serves the page of duelists until the test ends.
func servedPage(t *testing.T, args ...string) *tooltest.Server {
	t.Helper()
	return servedPageOf(t, duelists(), args...)
}

func servedPageOf(t *testing.T, game Game, args ...string) *tooltest.Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context())) // the page is closed first
	r, w := io.Pipe()
	var errs bytes.Buffer
	exit := make(chan int, 1)
	go func() {
		exit <- Run(ctx, append(append([]string{"samestep"}, args...), "--listen", "127.0.0.1:0"), w, &errs, game)
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		<-exit
	})
	s := &tooltest.Server{}
	for lines := bufio.NewScanner(r); s.URL == "" && lines.Scan(); {
		if words := strings.Fields(lines.Text()); words[0] == "lobby" || words[0] == "listening" {
			s.URL = strings.TrimSuffix(words[len(words)-1], "/")
		}
	}
	go io.Copy(io.Discard, r)
	if s.URL == "" {
		t.Fatalf("it exited with %d: %s", <-exit, errs.String())
	}
	for _, index, _ := tooltest.Fetch(t, s.URL+"/"); strings.Contains(index, "being built"); {
		_, index, _ = tooltest.Fetch(t, s.URL+"/")
	}
	return s
}

// The link of a desync's report shows the match and the player's side beside each other, with the differing unit near and selected
// on both maps: from a server that has the bundle, and else from the file that is dropped then.
func TestReportLinkInPage(t *testing.T) {
	browser.Needs(t)
	bundle, dir := tooltest.DemoBundle(t), t.TempDir()
	e, err := desyncs.ExplainFile("samestep", bundle, games.Games(), desync.Options{Budget: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(bundle)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.Base(bundle)), whole, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := tooltest.Run(t.Context(), []string{"samestep", "replay", "seal", bundle, filepath.Join(dir, "skirmish.ssr")}, &out, &out); code != console.ExitOK {
		t.Fatalf("got exit code %d: %s", code, &out)
	}
	_, link, _ := strings.Cut(e.Steps[len(e.Steps)-1].Why, "http://127.0.0.1:8766/")
	const shown = `globalThis.viewer?.comparing && viewer.state?.tick === 121 && viewer.state.chosen === 91 && viewer.state.aim[2] >= 32 * 256 && ` +
		`[viewer.renderer, viewer.beside].every(({ drawn, frame }) => drawn > 1 && frame.tick === 121 && ` +
		`[...frame.words.subarray(frame.units.start, frame.units.end)].some((id, i, all) => i % 6 === 2 && id === 91 && all[i + 1] & 1 << 16) && ` +
		`[...frame.words.subarray(frame.effects.start, frame.effects.end)].some((word, i) => i % 5 === 0 && (word & 255) === 14))`
	for _, bundles := range []bool{true, false} {
		s := servedPage(t, "serve", "--set", "web=true", "--guests", "1", "--matches", "1", "--log-level", "warn", "--dir", dir, "--set", fmt.Sprintf("bundles=%t", bundles))
		allowed := []string{}
		if !bundles {
			allowed = append(allowed, "404")
		}
		b := browser.Open(t, s.URL+"/"+link, allowed...)
		if !bundles {
			b.Shown("#viewer .said", "this server shows no bundle of that name to you")
			b.Drop("report.zip", whole)
		}
		b.Until(shown)
		b.Shown(".differences", ".Health")
		b.Shot("report")
	}
}

// A user plays against bots, gives up and begins the same match again: on the same map, with the same units, at the same speed, and
// against the same bots. The lobby lists the replay while the page stays open. That holds for the demo, and on a server for guests.
func TestRematchFromPage(t *testing.T) {
	browser.Needs(t)
	config := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(config, []byte(`{"Crystals":77,"Units":90,"Workers":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, match, args string }{
		{"demo", "demo", "demo --web --config {\"Units\":120} --bot hard"},
		{"configuration", "match-1", "serve --set web=true --guests 4 --matches 1 --players 2 --bots 1 --config " + config + " --set bot=hard --tick-rate 50 --set seed=5 --log-level warn"},
		{"guests", "match-1", "serve --set web=true --guests 4 --matches 1 --players 2 --bots 1 --config {\"Units\":120} --set bot=hard --tick-rate 25 --set seed=5 --log-level warn"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.name == "guests" { // the other two have a server, and visitors without tokens
				testenv.Night(t)
			}
			s := servedPage(t, append(strings.Fields(row.args), "--dir", t.TempDir())...)
			before, err := tooltest.Status(t, s.URL+"/matches/"+row.match)
			if err != nil {
				t.Fatal(err)
			}

			b := browser.Open(t, s.URL+"/#/play/"+row.match)
			const playing = `globalThis.page && page.state && page.state.link.state === "live" && page.state.net.seat === 0 && page.renderer.drawn > 0`
			b.Until(playing)
			b.Agree(1)
			config := browser.Value[string](b, `JSON.stringify(JSON.parse(samestep.request()).config)`)
			browser.Value[bool](b, `samestep.button("surrender"), true`)
			b.Shown(".verdict h2", "Defeat")
			browser.Value[bool](b, `page.hud.verdict.again.click(), true`)
			b.Until(`location.hash === "#/play/` + row.match + `.2" && page.hud.name === "` + row.match + `.2" && ` + playing)
			b.Agree(1)
			if again := browser.Value[string](b, `JSON.stringify(JSON.parse(samestep.request()).config)`); again != config {
				t.Errorf("the rematch has the configuration %s, want %s", again, config)
			}
			after, err := tooltest.Status(t, s.URL+"/matches/"+row.match+".2")
			if err != nil {
				t.Fatal(err)
			}
			if after.BotKind != "hard" || before.BotKind != "hard" || after.Settings.Seed != before.Settings.Seed || after.Settings.TickRate() != before.Settings.TickRate() || len(after.Players) != len(before.Players)+1 {
				t.Errorf("the rematch is %+v, want %+v", after, before)
			}
			b.NeverDiffered()

			b.Visit("#/")
			b.Until(`[...document.querySelectorAll('#lobby a[href^="#/replay/` + row.match + `-"]')].length === 1`)
		})
	}
}

// The page of docs/frontend.md, which has its own files and program, draws the dots, plays, and tells the game's events.
func TestFrontendPage(t *testing.T) {
	testenv.Long(t)
	browser.Needs(t)
	game := New(minimal.Rules(),
		Page(frontend.Page, map[string]string{"dots": "github.com/seed-49bee653/samestep/examples/minimal/frontend/wasm"}),
	)
	s := servedPageOf(t, game, "serve", "--set", "web=true", "--set", "player-tokens=ada-has-the-first-seat", "--players", "1", "--config", `{"Size":50,"Coins":500}`, "--log-level", "warn", "--dir", t.TempDir())
	b := browser.Open(t, s.URL+"/#match-1?ada-has-the-first-seat")
	b.Until(`globalThis.samestep?.dots()?.length === 2`)
	b.Click("#map") // the middle, cell 25,25
	b.Until(`samestep.dots().every((place) => place > 5)`)
	b.Shown("#news", "Player 0 has taken a coin.")
}
