//go:build !js && !wasip1

package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// duelists is Skirmish as the program samestep has it, with bots to choose.
func duelists() Game {
	return New(skirmish.Rules(), NamedBot("normal", skirmish.Normal.NewPlayer), NamedBot("easy", skirmish.Easy.NewPlayer), NamedBot("hard", skirmish.Hard.NewPlayer),
		Config(skirmish.Opening), Units(skirmish.Sized), Page(web.Page, map[string]string{"skirmish": module + "/examples/skirmish/web/wasm"}))
}

// match returns the server's view of a match.
func (s *served) match(t *testing.T, name string) (v server.View) {
	t.Helper()
	_, body, _ := fetch(t, s.url+"/matches/"+name)
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return v
}

// A user plays against bots, gives up and begins the same match again: on the same map, with the same units, at the same speed, and
// against the same bots. The lobby lists the replay while the page stays open. That holds for the demo, and on a server for guests.
func TestRematchFromPage(t *testing.T) {
	browser.Needs(t)
	for _, row := range []struct{ name, match, args string }{
		{"demo", "demo", "demo --web --units 120 --bot hard"},
		{"guests", "match-1", "serve --web --guests 4 --matches 1 --players 2 --bots 1 --units 120 --bot hard --tick-rate 25 --seed 5 --quiet"},
	} {
		t.Run(row.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context())) // the page is closed first
			r, w := io.Pipe()
			var errs bytes.Buffer
			exit := make(chan int, 1)
			go func() {
				args := append(append([]string{"samestep"}, strings.Fields(row.args)...), "--listen", "127.0.0.1:0", "--dir", t.TempDir())
				exit <- Run(ctx, args, w, &errs, duelists())
				w.Close()
			}()
			t.Cleanup(func() {
				cancel()
				<-exit
			})
			s := &served{}
			for lines := bufio.NewScanner(r); s.url == "" && lines.Scan(); {
				if words := strings.Fields(lines.Text()); words[0] == "lobby" || words[0] == "listening" {
					s.url = strings.TrimSuffix(words[len(words)-1], "/")
				}
			}
			go io.Copy(io.Discard, r)
			if s.url == "" {
				t.Fatalf("it exited with %d: %s", <-exit, errs.String())
			}
			for _, index, _ := fetch(t, s.url+"/"); strings.Contains(index, "being built"); {
				_, index, _ = fetch(t, s.url+"/")
			}
			before := s.match(t, row.match)

			b := browser.Open(t, s.url+"/#/play/"+row.match)
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
			after := s.match(t, row.match+".2")
			if after.BotKind != "hard" || before.BotKind != "hard" || after.Settings.Seed != before.Settings.Seed || after.Settings.TickRate != before.Settings.TickRate || len(after.Players) != len(before.Players)+1 {
				t.Errorf("the rematch is %+v, want %+v", after, before)
			}
			b.NeverDiffered()

			b.Visit("#/")
			b.Until(`[...document.querySelectorAll('#lobby a[href^="#/replay/` + row.match + `-"]')].length === 1`)
		})
	}
}
