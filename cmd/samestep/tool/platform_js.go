package tool

import (
	"context"
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep/netsim"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

var hangup []os.Signal // none

// through returns nil: the browser owns the connection below a WebSocket.
func through(netsim.Link, func(*netsim.Conn)) func(any) any { return nil }

// within returns nil: there are no servers in browsers.
func within(*server.Server) *struct{} { return nil }

// watchScreen has no terminal.
func watchScreen(context.Context, *cli.Context, source) error {
	return errors.New("watch: there is no terminal; see --once")
}
