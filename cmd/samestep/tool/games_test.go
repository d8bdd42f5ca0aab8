//go:build !js

package tool

import (
	"flag"
	"io"
	"net/http"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/platforms/compat"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/server"
)

// ours are the games of the program samestep.
var ours = []Game{
	New(skirmish.Rules(), Bot(skirmish.NewPlayer), Config(func(players int) skirmish.Config { return skirmish.Sized(players, 400) }), Units(skirmish.Sized),
		Page(web.Page, map[string]string{"skirmish": console.Module + "/examples/skirmish/web/wasm"})),
	New(minimal.Rules(), Bot(minimal.NewBot), Config(minimal.Usual)),
	New(platforms.Rules(), Bot(platforms.NewBot), Config(platforms.Usual), Compat(compat.Settings(), func(s *server.Server, o gameset.CompatOptions) http.Handler {
		return compat.New(s, compat.Options{Match: o.Match, Strangers: o.Strangers, Origins: o.Origins, MaxPerAddress: o.MaxPerAddress, Log: o.Log})
	})),
}

var games = mustList(ours)

func mustList(games []Game) gameset.List {
	list, err := listOf(games)
	if err != nil {
		panic(err)
	}
	return list
}

// flagless returns the context of a command without flags, of a program with some games.
func flagless(list gameset.List) *cli.Context {
	app := &cli.App{Metadata: map[string]any{gameset.GamesKey: list}, Writer: io.Discard, ErrWriter: io.Discard}
	return cli.NewContext(app, flag.NewFlagSet("", flag.ContinueOnError), nil)
}

func newApp(stdout, stderr io.Writer) *cli.App {
	return appOf(games, "samestep", stdout, stderr, serving.Extension{})
}
