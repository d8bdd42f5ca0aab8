//go:build !js

package serving

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// Hosting is what an [Extension] knows of the server that serve makes.
type Hosting struct {
	URL   string           // at which the server listens
	Games []*lockstep.Game // whose matches it can run

	// Spec makes the spec of a match that another server has begun, from its name, the header of its log, and what the log says about
	// its rules, or nil.
	Spec func(name string, h *lockstep.Header, rules *replay.Rules) (server.MatchSpec, error)

	Log *slog.Logger
}

// Serving is the part of an [Extension] in a running server.
type Serving interface {
	Serve(s *server.Server)              // called before the server gets its first match
	Handler(h http.Handler) http.Handler // in front of the server's
	Leave(ctx context.Context)           // called before the server is shut down
	Close(ctx context.Context)           // called after that
}

// ExtensionKey names the extension in a program's metadata.
const ExtensionKey = "extension"

func checkExtension(c *cli.Context) error {
	if x, _ := c.App.Metadata[ExtensionKey].(Extension); x.CheckServe != nil {
		return x.CheckServe(c)
	}
	return nil
}

// extend lets the program's extension change the options of a server. It returns nil if there is nothing to do.
func extend(c *cli.Context, url string, games gameset.List, policy *MatchPolicy, o *server.Options) (Serving, error) {
	x, _ := c.App.Metadata[ExtensionKey].(Extension)
	if x.Serve == nil {
		return nil, nil
	}
	h := Hosting{URL: url, Log: o.Log, Spec: func(name string, h *lockstep.Header, rules *replay.Rules) (spec server.MatchSpec, err error) {
		g, err := games.OfLog(h, rules)
		if err != nil {
			return spec, err
		}
		spec.Name, spec.Game, spec.Settings = name, g.Game, h.Settings
		policy.Of(g).apply(&spec, c.Uint("bots"))
		return spec, nil
	}}
	for _, g := range games {
		h.Games = append(h.Games, g.Game)
	}
	return x.Serve(c, h, o)
}

// An Extension is what a program has besides the verbs of this package.
type Extension struct {
	// Verbs are further commands. Their errors become exit codes like those of all verbs, see [Usagef] and [ClassError].
	Verbs []*cli.Command

	// Keep are the names of the usual verbs that the program has besides those about itself, such as version. Nil keeps all.
	Keep []string

	// ServeFlags are further flags of serve, and ServeKeys further keys of its settings file. One with the name of a usual flag or key
	// replaces it.
	ServeFlags, ServeKeys []cli.Flag

	// CheckServe looks at the flags of serve before anything is opened, also with --check-config. Nil refuses none.
	CheckServe func(c *cli.Context) error

	// Serve is called before serve makes its server, and may change the server's options. It returns nil if the flags do
	// not ask for anything. Nil adds nothing to serve.
	Serve func(c *cli.Context, h Hosting, o *server.Options) (Serving, error)

	// OpenStore opens the archive at a place such as that of serve --archive. It returns nil for a place that it does not know.
	// A store with a method Close is closed by verbs that end before the program.
	OpenStore func(c *cli.Context, place string) (archive.Store, error)
}
