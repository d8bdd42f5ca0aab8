//go:build !js

package tool

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

// maxConfigFile is the largest file of a configuration, in bytes.
const maxConfigFile = 4 << 20

// configFlag names a file with the configuration of a match.
var configFlag = &cli.StringFlag{Name: "config", Usage: "JSON `FILE` with fields of the match's configuration; the others are as in a usual match"}

// override returns the JSON of --config, or nothing. The error of bad JSON names the file and the field.
func (g *playable) override(c *cli.Context) ([]byte, error) {
	name := c.String(configFlag.Name)
	if name == "" {
		return nil, nil
	}
	b, err := readAtMost(name, maxConfigFile)
	if err != nil {
		return nil, err
	}
	if len(b) > maxConfigFile {
		return nil, fmt.Errorf("%s: got more than %d bytes", name, maxConfigFile)
	}
	if _, err := g.ReadConfig(b, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// nameConfig adds the file of --config to the game's refusal of a configuration, and returns err.
func nameConfig(c *cli.Context, err error) error {
	refusal := (*lockstep.ConfigError)(nil)
	if name := c.String(configFlag.Name); name != "" && errors.As(err, &refusal) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}
