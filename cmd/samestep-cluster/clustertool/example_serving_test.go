//go:build !js && !wasip1

package clustertool_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/server"
)

// A watcher says what happens to the server that it is beside.
type watcher struct{}

func (watcher) Serve(*server.Server)                {}
func (watcher) Handler(h http.Handler) http.Handler { return h }
func (watcher) Leave(context.Context)               {}
func (watcher) Close(context.Context)               {}

// A program has something beside each server that serve makes. It refuses a server without a flag of its own.
func Example_serving() {
	x := tool.Extension{
		ServeFlags: []cli.Flag{&cli.StringFlag{Name: "region"}},
		Serve: func(c *cli.Context, h tool.Hosting, _ *server.Options) (tool.Serving, error) {
			if c.String("region") == "" {
				return nil, tool.Usagef("want --region, for %d game", len(h.Games))
			}
			var beside tool.Serving = watcher{}
			return beside, nil
		},
	}
	code := tool.RunWith(context.Background(), []string{"mygame", "serve", "--matches", "0", "--listen", "127.0.0.1:0", "--dir", ""}, io.Discard, os.Stdout, x, tool.New(minimal.Rules()))
	fmt.Println("exit code", code)
	// Output:
	// mygame: usage: serve: want --region, for 1 game
	// exit code 2
}
