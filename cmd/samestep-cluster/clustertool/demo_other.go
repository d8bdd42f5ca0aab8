//go:build !unix && !js

package clustertool

import "github.com/urfave/cli/v2"

// demoCommands returns nothing: the demonstration kills processes as only Unix can.
func demoCommands() []*cli.Command { return nil }
