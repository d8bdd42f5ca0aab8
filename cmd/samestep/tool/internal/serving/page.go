//go:build !js

package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page"
	pageprogram "github.com/seed-49bee653/samestep/page/program"
	"github.com/seed-49bee653/samestep/server"
)

// A pageHandler serves a game's page in front of another handler.
type pageHandler struct {
	next  http.Handler
	wait  time.Duration // of requests that come before the page is ready
	also  []string      // origins to which the page may connect, see [site.Site.Over]
	ready chan struct{} // closed when site or err is set
	site  *site.Site
	err   error
}

// newPageHandler builds the page in the background, which takes a minute for the first time.
func newPageHandler(ctx context.Context, p *gameset.WebPage, next http.Handler, log *slog.Logger) *pageHandler {
	h := &pageHandler{next: next, wait: 20 * time.Second, ready: make(chan struct{})}
	go func() {
		defer close(h.ready)
		programs, err := pagePrograms(ctx, p, func(text string) { log.Warn(text) })
		if err == nil {
			var own fs.FS
			if own, err = filesOf(p); err == nil {
				h.site, err = site.NewWith(p.Made, own, page.Parts(), programs)
			}
		}
		if h.err = err; err != nil && ctx.Err() == nil {
			log.Error("the game's page is not available", "err", err)
		}
	}()
	return h
}

// filesOf returns the files of a game's page.
func filesOf(p *gameset.WebPage) (own fs.FS, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the game's function of tool.Page panicked: %v", v)
		}
	}()
	if own = p.Files(); own == nil {
		return nil, errors.New("the game's function of tool.Page returned no files")
	}
	return own, nil
}

// ServeHTTP implements [http.Handler].
func (h *pageHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-h.ready:
	default:
		if r.URL.Path != "/" {
			h.next.ServeHTTP(w, r)
			return
		}
		select {
		case <-h.ready:
		case <-r.Context().Done():
			return
		case <-time.After(h.wait): // a browser does not wait for minutes
			w.Header().Set("Refresh", "1")
			http.Error(w, "The page is being built. The first time takes about a minute …", http.StatusServiceUnavailable)
			return
		}
	}
	switch {
	case h.site != nil:
		h.site.Over(h.next, h.also...).ServeHTTP(w, r)
	case r.URL.Path == "/":
		http.Error(w, "The game's page is not available: "+h.err.Error(), http.StatusServiceUnavailable)
	default:
		h.next.ServeHTTP(w, r)
	}
}

// PageOver serves the game's page in front of next. The inspector page plays all games of the program.
func PageOver(g *gameset.Playable, c *cli.Context, next http.Handler, log *slog.Logger) http.Handler {
	list := gameset.Listed(c)
	if g.Page != nil {
		list = gameset.List{g}
	}
	var all []pageprogram.Game
	for _, g := range list {
		listed := pageprogram.Game{Game: g.Game, Config: g.Usual, Sized: g.Sized, Paced: g.Tick > 0}
		if g.Module != nil {
			listed.Module = g.Module.Bytes
		}
		for _, bot := range g.Opponents {
			listed.Bots = append(listed.Bots, bot.Name)
		}
		for _, s := range g.Scenarios {
			listed.Scenarios = append(listed.Scenarios, pageprogram.Scenario{Name: s.Name, Players: s.Seats, Config: s.Usual})
		}
		all = append(all, listed)
	}
	p := *PageOrInspector(g)
	p.Made = pageprogram.Files(all...)
	h := newPageHandler(c.Context, &p, next, log)
	h.also = datagramOrigins(c)
	return h
}

// PageOrInspector returns the game's own page, or else the inspector page, whose program is this program, compiled for js/wasm.
func PageOrInspector(g *gameset.Playable) *gameset.WebPage {
	return cmp.Or(g.Page, &gameset.WebPage{Files: page.Inspector, Programs: map[string]string{"inspector": console.MainPackage()}})
}

// Built has the programs of a release, or is nil. [Programs] sets it.
var Built fs.FS

// pagePrograms returns the programs of a page: those of a release, or else what it builds from the sources.
func pagePrograms(ctx context.Context, p *gameset.WebPage, say func(string)) (fs.FS, error) {
	if Built != nil {
		return packed(p)
	}
	own, err := os.Executable()
	if err != nil {
		own = "" // then any sources do
	}
	return BuildPage(ctx, p, site.BuildOptions{Quality: 5, Say: say, Program: own})
}

// BuildPage compiles a page's programs in the folder of package main, or else in the checkout of this package, or else here.
func BuildPage(ctx context.Context, p *gameset.WebPage, o site.BuildOptions) (fs.FS, error) {
	o.Dir, o.Packages = cmp.Or(console.MainFolder, sources()), p.Programs
	return site.Build(ctx, o)
}

func packed(p *gameset.WebPage) (fs.FS, error) {
	files := Built
	if found, err := fs.Glob(Built, "*/wasm_exec.js"); err == nil && len(found) == 1 {
		if files, err = fs.Sub(Built, path.Dir(found[0])); err != nil {
			return nil, err
		}
	}
	for name := range p.Programs { // a map: any of the missing ones is named
		if _, err := fs.Stat(files, name+".wasm.br"); err != nil {
			return nil, fmt.Errorf("the release has no program of the page: %w; write it with the verb pack", err)
		}
	}
	return files, nil
}

// sources returns the folder of this file if it exists, and otherwise nothing.
func sources() string {
	_, file, _, _ := runtime.Caller(0)
	if _, err := os.Stat(file); err != nil || !filepath.IsAbs(file) { // built with -trimpath
		return ""
	}
	return filepath.Dir(file)
}

// SendRules lets clients fetch the modules of the games, if there are any.
func SendRules(l gameset.List, o *server.Options) error {
	modules := make(map[string][]byte)
	for _, g := range l {
		if g.Module != nil {
			modules["rules/"+g.Module.Sum+gameset.ModuleExtension] = g.Module.Bytes
		}
	}
	if len(modules) == 0 {
		return nil
	}
	s, err := site.NewFixed(modules)
	if err != nil {
		return err
	}
	o.Rules = s.Over(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this server has no such module of rules", http.StatusNotFound)
	}))
	moduleOf := func(hosted *lockstep.Game) *gameset.RulesModule {
		if i := slices.IndexFunc(l, func(g *gameset.Playable) bool { return g.Game == hosted && g.Module != nil }); i >= 0 {
			return l[i].Module
		}
		return &gameset.RulesModule{}
	}
	o.ModuleOf = func(hosted *lockstep.Game) []byte { return moduleOf(hosted).Bytes }
	o.RulesOf = func(hosted *lockstep.Game) string { return moduleOf(hosted).Sum }
	return nil
}
