//go:build !js

package gameset

import (
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/replay"
)

// SourceFlag says where the sources of the rules are.
var SourceFlag = &cli.StringFlag{Name: "source", Usage: "`FOLDER` in the module with the rules, or a git revision", DefaultText: "the current one"}

// LineAssets adds the assets of the match: from the program's games, or else from the folder.
func LineAssets(c *cli.Context, f *replay.File, o *line.Options) error {
	h, err := f.Header()
	if err != nil {
		return err
	}
	g, err := assetsFor(c, f, h)
	if g == nil {
		return err
	}
	o.Assets = g.ReadAsset
	o.List, err = g.Assets(h)
	return err
}
