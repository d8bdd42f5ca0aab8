//go:build !js && !wasip1

package page_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/page"
	"github.com/seed-49bee653/samestep/page/program"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// moduleMain is the program that becomes the module of skirmish.
const moduleMain = `package main

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/module/guest"
)

func init() { guest.Export(skirmish.Rules(), skirmish.Opening) }

func main() {}
`

// skirmishModule is the module of skirmish.
var skirmishModule = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "samestep-page-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	main, overlay, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "rules.wasm")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, "skirmish_module", "main.go"): main}})
	if err != nil {
		return nil, err
	}
	for name, b := range map[string][]byte{main: []byte(moduleMain), overlay: replace} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			return nil, err
		}
	}
	c := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-overlay", overlay, "-o", out, "./skirmish_module")
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=")
	if text, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	if b, err = module.FromGo(b); err != nil {
		return nil, err
	}
	faster, ok := module.Faster(b)
	if !ok {
		return nil, errors.New("no function has the form of Go's compiler")
	}
	return faster, nil
})

// elsewhere is the game of the module, which the server hosts.
var elsewhere = sync.OnceValues(func() (*lockstep.Game, error) {
	b, err := skirmishModule()
	if err != nil {
		return nil, err
	}
	return gameOfModule(b, module.Options{})
})

func gameOfModule(b []byte, o module.Options) (*lockstep.Game, error) {
	rules, err := module.Compile(b, o)
	if err != nil {
		return nil, err
	}
	return lockstep.NewGameElsewhere(rules)
}

// bare is the inspector page whose program has no game, so that all rules come from modules.
var bare = sync.OnceValues(func() (*site.Site, error) {
	b, err := skirmishModule()
	if err != nil {
		return nil, err
	}
	return bareWith(b)
})

// bareWith returns the page with a module of skirmish.
func bareWith(b []byte) (*site.Site, error) {
	g, err := gameOfModule(b, module.Options{})
	if err != nil {
		return nil, err
	}
	return bareOf(program.Files(program.Game{Game: g, Module: b}))
}

// bareOf returns the page with some files that depend on the games.
func bareOf(made map[string][]byte) (*site.Site, error) {
	files, err := site.Build(context.Background(), site.BuildOptions{
		Packages: map[string]string{"inspector": "github.com/seed-49bee653/samestep/page/program/bare"}, Quality: 5,
	})
	if err != nil {
		return nil, err
	}
	return site.NewWith(made, page.Inspector(), page.Parts(), files)
}

// newModuleStage serves an inspector page of a program without games, and a match of the module of skirmish.
func newModuleStage(t *testing.T, site func() (*site.Site, error)) *browser.Stage {
	t.Helper()
	browser.Needs(t)
	g, err := elsewhere()
	if err != nil {
		t.Fatal(err)
	}
	settings := lockstep.DefaultSettings(2)
	settings.Seed, settings.CheckEvery = 1, 5
	small := skirmish.Defaults(2, 100)
	var text jsonText
	if err := game.WriteConfig(&text, &small); err != nil {
		t.Fatal(err)
	}
	config, err := g.ReadConfig(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return browser.NewStage(t, browser.StageOptions{Site: site, Match: server.MatchSpec{Game: g, Settings: settings, Config: config}})
}

// A jsonText is what a game writes.
type jsonText []byte

// Write implements io.Writer.
func (t *jsonText) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	return len(b), nil
}

// A page plays a game that its program does not have, by the module of its server. It sends a command, and agrees with the server at
// every check but the one after a field was corrupted.
func TestPlayModule(t *testing.T) {
	s := newModuleStage(t, bare)
	bot := skirmish.NewBot(1, 7)
	s.Seat(game, 1, func(c *player.Client) { // the same rules, natively
		for _, o := range bot.Think(lockstep.World[skirmish.World](c.Simulation())) {
			c.Submit(o.Value) // an error: too many wait for an answer
		}
	})
	b := browser.Open(t, s.URL)
	b.Shown("#lobby .cards", "arena")
	b.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-0"))
	b.Until(browser.Inspected)
	b.Agree(3)
	b.Click(`[role="tab"]:nth-child(3)`)
	browser.Value[bool](b, `(() => {
		const { forms } = page, kind = forms.forms.findIndex((f) => f.name === "surrender");
		forms.kinds.value = String(kind);
		forms.kinds.dispatchEvent(new Event("change"));
		return kind >= 0;
	})()`)
	b.NeverDiffered()
	b.Click(`[role="tab"]:nth-child(1)`)
	browser.Value[bool](b, `page.inspection.tree.show("Units[3].Health"), true`)
	b.Click(`.menu button[title^="checksums"]`)
	b.Click(`#corrupt`)
	b.Shown(".report", "Units[ID=4].Health")
	b.Shown(".report", "Repaired")
	b.Agree(1)
	b.Click(`[role="tab"]:nth-child(3)`)
	b.Click(`.act [type="submit"]`)
	b.Shown(".act .said", "was sent")
	b.Until(`page.state.link.state === "ended"`)
	b.Shot("played")
}

// Recorded matches have the same checksums natively, in a module that is compiled, in one that is interpreted, and in a page.
func TestReplaysEverywhere(t *testing.T) {
	s := newModuleStage(t, bare)
	content, err := skirmishModule()
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := elsewhere()
	if err != nil {
		t.Fatal(err)
	}
	interpreted, err := gameOfModule(content, module.Options{Interpret: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range []struct {
		file  string
		ticks []int
	}{{"duel", []int{700, 699, 1200, 3}}, {"four", []int{300, 600}}, {"eight", []int{400}}, {"roster", []int{400}}} {
		t.Run(row.file, func(t *testing.T) {
			if i > 0 {
				testenv.Night(t) // the interpreter takes a minute for each
			}
			path := "../testdata/replays/" + row.file + ".ssr"
			s.Recorded(path)
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b := browser.Open(t, s.URL+"/#/replay/"+row.file+".ssr")
			b.Until(browser.There)
			for _, tick := range row.ticks {
				want := hashAt(t, file, game, tick)
				for name, g := range map[string]*lockstep.Game{"compiled": compiled, "interpreted": interpreted} {
					if got := hashAt(t, file, g, tick); got != want {
						t.Errorf("tick %d, %s: got %s, want %s", tick, name, got, want)
					}
				}
				browser.Value[bool](b, fmt.Sprintf("viewer.go(%d), true", tick))
				if got := b.At(tick); got != want {
					t.Errorf("tick %d, in the page: got %s, want %s", tick, got, want)
				}
			}
			if n := browser.Value[int](b, "viewer.state.differing"); n != 0 {
				t.Errorf("%d ticks differ in the page", n)
			}
			if n := browser.Value[int](b, "viewer.state.agreed"); n == 0 {
				t.Error("no tick was compared in the page")
			}
		})
	}
}

// A page has instances of a module that is too large for it to make one at once, and uses more of them than it has made ahead.
func TestLargeModule(t *testing.T) {
	const names = 9 << 20 // Chromium makes instances of up to 8 MB at once
	s := newModuleStage(t, func() (*site.Site, error) {
		b, err := skirmishModule()
		if err != nil {
			return nil, err
		}
		section := append([]byte("\x04name"), make([]byte, names)...)
		return bareWith(append(binary.AppendUvarint(append(bytes.Clone(b), 0), uint64(len(section))), section...))
	})
	s.Recorded("../testdata/replays/duel.ssr")
	file, err := os.ReadFile("../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t, s.URL+"/#/replay/duel.ssr")
	for range 8 {
		b.At(0)
		b.Visit("#/watch/arena")
		b.Until(browser.Inspected)
		b.Visit("#/replay/duel.ssr")
	}
	b.At(0)
	browser.Value[bool](b, "viewer.go(700), true")
	if got, want := b.At(700), hashAt(t, file, game, 700); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A page refuses a module that is not the one that the list names, says so, and goes on without its game.
func TestWrongModule(t *testing.T) {
	s := newModuleStage(t, func() (*site.Site, error) {
		b, err := skirmishModule()
		if err != nil {
			return nil, err
		}
		g, err := elsewhere()
		if err != nil {
			return nil, err
		}
		all := program.Files(program.Game{Game: g, Module: b})
		for name := range all {
			if strings.HasPrefix(name, "rules/") {
				all[name] = append(bytes.Clone(b), 0, 1, 0) // a custom section, which changes nothing
			}
		}
		return bareOf(all)
	})
	s.Recorded("../testdata/replays/duel.ssr")
	b := browser.Open(t, s.URL+"/#/replay/duel.ssr")
	b.Shown(`#viewer .said[role="alert"]`, "duel.ssr cannot be watched: The rules of the game have not arrived: got a module with SHA-256")
	b.Visit("#/watch/arena")
	b.Shown(".banner", "The rules of the game have not arrived: got a module with SHA-256")
}

// Each match of a server is played by the module that it names, also if others are of the same game and build. One that the server does
// not have, or has with other bytes, is refused.
func TestModuleOfMatch(t *testing.T) {
	browser.Needs(t)
	file, err := os.ReadFile("../examples/pebbles/testdata/golden/pebbles-1.ssr")
	if err != nil {
		t.Fatal(err)
	}
	one, err := watch.ModuleOf(file)
	if err != nil {
		t.Fatal(err)
	}
	two := bytes.Replace(one, []byte{0x42, 13, 0x86}, []byte{0x42, 14, 0x86}, -1) // i64.const 13, i64.shl
	if bytes.Equal(one, two) {
		t.Fatal("the module has no shift by 13")
	}
	same := append(bytes.Clone(one), 0, 1, 0) // a custom section, which changes nothing
	sent := map[string][]byte{replay.SumRules(one).String(): one, replay.SumRules(two).String(): two, replay.SumRules(same).String(): one}
	sums := make(map[*lockstep.Game]string)
	specOf := func(name string, b []byte, sum string) server.MatchSpec {
		t.Helper()
		g, err := gameOfModule(b, module.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sums[g] = sum
		config, err := g.ReadConfig([]byte(`{"Piles": 6, "Pebbles": 200}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		settings := lockstep.DefaultSettings(2)
		settings.Seed, settings.CheckEvery = 1, 5
		return server.MatchSpec{Name: name, Game: g, Settings: settings, Config: config}
	}
	arena, absent := specOf("arena", one, replay.SumRules(one).String()), strings.Repeat("0", 64)
	rest := []server.MatchSpec{specOf("two", two, replay.SumRules(two).String()), specOf("absent", one, absent), specOf("other", one, replay.SumRules(same).String())}
	s := browser.NewStage(t, browser.StageOptions{
		Site:  func() (*site.Site, error) { return bareOf(program.Files(program.Game{Game: arena.Game, Module: one})) },
		Match: arena,
		Rules: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, ok := sent[strings.TrimSuffix(path.Base(r.URL.Path), ".wasm")]
			if !ok {
				http.NotFound(w, r)
				return
			}
			w.Write(b)
		}),
		RulesOf: func(g *lockstep.Game) string { return sums[g] },
	})
	for _, spec := range rest {
		if _, err := s.Server.Create(spec); err != nil {
			t.Fatal(err)
		}
	}
	b := browser.Open(t, s.URL, "404")
	for _, name := range []string{"two", "arena", "two"} {
		b.Visit("#/play/" + name + "?token=token-of-player-0")
		b.Until(browser.Inspected)
		b.Agree(3)
		b.NeverDiffered()
		b.Visit("#/")
	}
	for name, want := range map[string]string{
		"absent": "The rules of the game have not arrived: this site does not have the module with SHA-256 " + absent,
		"other":  "The rules of the game have not arrived: got a module with SHA-256 " + replay.SumRules(one).String() + ", want " + replay.SumRules(same).String(),
	} {
		b.Visit("#/watch/" + name)
		b.Shown(".banner", want)
		b.Visit("#/")
	}
}

// A page watches replays of games that neither its program nor its site has, by the modules in them, one after another.
func TestModuleInReplay(t *testing.T) {
	s := newModuleStage(t, func() (*site.Site, error) { return bareOf(program.Files()) })
	paths, err := filepath.Glob("../examples/pebbles/testdata/golden/*.ssr")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	file, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	pebbles, err := watch.ModuleOf(file)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gameOfModule(pebbles, module.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := skirmishModule()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := replay.NewRules(b)
	if err != nil {
		t.Fatal(err)
	}
	duel, err := os.ReadFile("../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(duel), int64(len(duel)))
	if err != nil {
		t.Fatal(err)
	}
	with := filepath.Join(t.TempDir(), "with.ssr")
	out, err := os.Create(with)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(replay.Attach(out, r, rules), out.Close()); err != nil {
		t.Fatal(err)
	}
	s.Recorded(paths[0])
	s.Recorded(with)
	s.Recorded("../testdata/replays/duel.ssr")
	tab := browser.Open(t, s.URL)
	for range 2 {
		tab.Visit("#/replay/" + filepath.Base(paths[0]) + "?t=300")
		if got, want := tab.At(300), hashAt(t, file, g, 300); got != want {
			t.Errorf("pebbles: got %s, want %s", got, want)
		}
		tab.Visit("#/replay/with.ssr?t=700")
		if got, want := tab.At(700), hashAt(t, duel, game, 700); got != want {
			t.Errorf("skirmish: got %s, want %s", got, want)
		}
	}
	tab.Visit("#/replay/" + filepath.Base(paths[0])) // now the page has its rules, and no longer those of skirmish
	tab.Shown("#viewer strong.title", "pebbles")
	tab.Visit("#/replay/duel.ssr")
	tab.Shown(`#viewer .said[role="alert"]`, "duel.ssr cannot be watched")
}

// A page fetches the module of a game when a match, a replay or the form of the lobby needs it, and no other.
func TestModulesAreFetchedLate(t *testing.T) {
	s := newModuleStage(t, func() (*site.Site, error) {
		b, err := skirmishModule()
		if err != nil {
			return nil, err
		}
		g, err := elsewhere()
		if err != nil {
			return nil, err
		}
		other, err := lockstep.NewGame(minimal.Rules()) // instead of one with a module
		if err != nil {
			return nil, err
		}
		return bareOf(program.Files(program.Game{Game: other, Module: []byte("never fetched")}, program.Game{Game: g, Module: b}))
	})
	s.Recorded("../testdata/replays/duel.ssr")
	modules := `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/rules/")).length`
	for _, row := range []struct{ path, show string }{
		{"#/watch/arena", browser.Inspected},
		{"#/replay/duel.ssr", browser.There},
		{"#/", `!!document.querySelector(".creation .config fieldset")`},
	} {
		b := browser.Open(t, s.URL+"/#/")
		b.Shown("#lobby .cards", "arena")
		if n := browser.Value[int](b, modules); n != 0 {
			t.Errorf("the lobby has fetched %d modules", n)
		}
		if row.path == "#/" {
			b.Click(".creation .more summary")
		} else {
			b.Visit(row.path)
		}
		b.Until(row.show)
		if n := browser.Value[int](b, modules); n != 1 {
			t.Errorf("%s: got %d modules, want 1", row.path, n)
		}
	}
}

// What the browser keeps for visits without a network has the modules that were used, and no others.
func TestUsedModulesAreKept(t *testing.T) {
	s := newModuleStage(t, bare)
	s.Recorded("../testdata/replays/duel.ssr")
	kept := func(pattern string) string {
		return fmt.Sprintf(`(globalThis.asked ??= setInterval(async () => {
			const all = [];
			for (const name of await caches.keys()) for (const { url } of await (await caches.open(name)).keys()) all.push(url);
			globalThis.kept = all;
		}, 50), globalThis.kept?.some((url) => url.includes(%q)) ?? false)`, pattern)
	}
	b := browser.Open(t, s.URL)
	b.Until(kept("/inspector.wasm"))
	if browser.Value[bool](b, kept("/rules/")) {
		t.Error("a module is kept before it is used")
	}
	b.Until(`globalThis.active || navigator.serviceWorker.ready.then(() => (globalThis.active = true)) && globalThis.active`)
	b.Do(chromedp.Reload()) // a page that loads before the worker is active is never controlled by it
	b.Shown("#lobby .cards", "arena")
	b.Until("navigator.serviceWorker.controller !== null")
	b.Visit("#/watch/arena")
	b.Until(browser.Inspected)
	b.Until(kept("/rules/"))
}

// hashAt returns the checksum of a replay at a tick.
func hashAt(t *testing.T, file []byte, g *lockstep.Game, tick int) string {
	t.Helper()
	v, err := watch.Open(file, g)
	if err != nil {
		t.Fatal(err)
	}
	for v.Seek(lockstep.Tick(tick)); !v.Work(1000); {
	}
	if err := v.Fault(); err != nil {
		t.Fatal(err)
	}
	return v.Hash()
}
