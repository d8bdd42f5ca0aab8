//go:build !js

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep/record"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// How long a server may take until its answer with a module begins, and then until it ends.
const (
	moduleAnswerTime = 10 * time.Second
	moduleTime       = 10 * time.Minute
)

// gameOfMatch returns the game of a match: that of a given module or of the program, or else of the module that the match names by its
// sum, from a folder or from one of the match's servers.
func gameOfMatch(c *cli.Context, status *server.Status, pages []string, token string) (*gameset.Playable, error) {
	m := gameset.ModulesOf(c)
	if g := gameset.Listed(c).BySum(status.Rules); g != nil && g.Name() == status.Game && g.Build() == status.Build {
		return g, nil
	}
	if status.Rules == "" || gameset.Listed(c).Has(status.Game, status.Build) || len(m.Given.Builds(status.Game)) > 0 {
		return gameset.GameNamed(c, status.Game, status.Build)
	}
	f := &moduleFetch{budget: gameset.NewBudget(c), want: status, pages: pages, token: token, folders: m.Folders, store: gameset.StoreOfUser(), say: m.Warn, answerTime: moduleAnswerTime, time: moduleTime}
	g, err := f.find(c.Context)
	if err != nil {
		return nil, fmt.Errorf("the rules of the match: %w", err)
	}
	return gameset.List{g}.ReadFrom(m.Assets)[0], nil
}

// A moduleFetch gets the module of a match that the match's servers name by its SHA-256.
type moduleFetch struct {
	budget     *wasm.Budget // of the game; nil: none
	want       *server.Status
	pages      []string // URLs of the match
	token      string   // that its servers are shown, or ""
	folders    []string // of modules, where it may be, besides the user's
	store      string   // the user's folder of modules, or ""
	say        func(format string, args ...any)
	answerTime time.Duration // until an answer begins
	time       time.Duration // of an answer
}

// find returns the game of the module, from the user's folder or from a server.
func (f *moduleFetch) find(ctx context.Context) (*gameset.Playable, error) {
	if !record.IsAssetSum(f.want.Rules) {
		return nil, fmt.Errorf("the server names the module %.80q, want 64 hexadecimal digits, lower case", f.want.Rules)
	}
	if b := f.kept(); b != nil {
		return f.check(b)
	}
	var g *gameset.Playable
	err := insist(ctx, 0, func() (all error) {
		for _, page := range f.pages {
			b, from, err := f.fetch(ctx, page)
			if err != nil {
				all = errors.Join(all, fmt.Errorf("%s: %w", from, err))
				continue
			}
			if g, err = f.check(b); err == nil {
				f.keep(g, from)
			}
			return err
		}
		return all
	})
	return g, err
}

// kept returns the module from a folder, or nil.
func (f *moduleFetch) kept() []byte {
	folders := f.folders
	if f.store != "" {
		folders = append(slices.Clip(folders), f.store, gameset.FetchedIn(f.store))
	}
	for _, dir := range folders {
		b, err := gameset.ModuleBytes(filepath.Join(dir, f.want.Rules+gameset.ModuleExtension))
		if err == nil && replay.SumRules(b).String() == f.want.Rules { // otherwise it is damaged
			return b
		}
	}
	return nil
}

var errSlow = errors.New("the server takes too long")

// fetch asks the server of a match for the module, and returns the module and its address.
func (f *moduleFetch) fetch(ctx context.Context, page string) (module []byte, from string, err error) {
	u, err := url.Parse(page)
	if err != nil {
		return nil, page, err
	}
	from = u.JoinPath("..", "..", "rules", f.want.Rules+gameset.ModuleExtension).String()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(f.answerTime, func() { cancel(errSlow) })
	defer late.Stop()
	answer, err := ask(ctx, from, f.token, false)
	if e := (*url.Error)(nil); errors.As(err, &e) && !errors.Is(err, errCrowded) {
		err = e.Err // it names the address again
	}
	if err == nil {
		late.Reset(f.time)
		module, err = f.read(answer)
	}
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return module, from, err
}

// read reads a module of an answer.
func (f *moduleFetch) read(answer *http.Response) ([]byte, error) {
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("got %s, want a module", console.StatusOf(answer))
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, wasm.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > wasm.MaxBytes {
		return nil, fmt.Errorf("got more than %s, want a module of at most as much", console.Size[int64](wasm.MaxBytes))
	}
	if got := replay.SumRules(b).String(); got != f.want.Rules {
		return nil, fmt.Errorf("got a module with SHA-256 %s, want %s", got, f.want.Rules)
	}
	return b, nil
}

// check returns the game of a module, which must be that of the match.
func (f *moduleFetch) check(b []byte) (*gameset.Playable, error) {
	g, err := gameset.NewModuleGame(b, f.budget)
	if err != nil {
		return nil, err
	}
	if g.Name() != f.want.Game || g.Build() != f.want.Build {
		return nil, errors.Join(fmt.Errorf("got the module of game %q, build %q, want %.128q, build %.128q", g.Name(), g.Build(), f.want.Game, f.want.Build), g.Module.Rules.Close())
	}
	return g, nil
}

// keep puts a module into the user's folder. If that fails, the game is played all the same.
func (f *moduleFetch) keep(g *gameset.Playable, from string) {
	where := "not kept: this user has no folder for caches"
	if dir := gameset.FetchedIn(f.store); f.store != "" {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = gameset.AddModule(dir, g.Module)
		}
		if where = "kept in " + dir; err != nil {
			where = "not kept: " + err.Error()
		}
	}
	f.say("got the rules of %s build %s from %s: %s, %s", g.Name(), g.Build(), from, console.Size(len(g.Module.Bytes)), where)
}
