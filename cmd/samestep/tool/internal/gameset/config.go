//go:build !js

package gameset

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

// maxConfigFile is the largest file of a configuration, in bytes.
const maxConfigFile = 4 << 20

// ConfigFlag names a file with the configuration of a match.
var ConfigFlag = &cli.StringFlag{Name: "config", Usage: "JSON `FILE`, or JSON itself, with fields of the match's configuration, such as '{\"Units\": 300}' for a game that has units; the others are as in a usual match"}

// ConfigText returns the JSON of --config, or nothing.
func ConfigText(c *cli.Context) ([]byte, error) {
	name := c.String(ConfigFlag.Name)
	if name == "" || name[0] == '{' {
		return []byte(name), nil
	}
	b, err := readAtMost(name, maxConfigFile)
	if err == nil && len(b) > maxConfigFile {
		err = fmt.Errorf("%s: got more than %d bytes", name, maxConfigFile)
	}
	return b, err
}

// Override returns the JSON of --config, or nothing. The error of bad JSON names the file and the field.
func (g *Playable) Override(c *cli.Context) ([]byte, error) {
	b, err := ConfigText(c)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	if _, err := g.ReadConfig(b, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", c.String(ConfigFlag.Name), err)
	}
	return b, nil
}

// NameConfig adds the file of --config to the game's refusal of a configuration, and returns err.
func NameConfig(c *cli.Context, err error) error {
	refusal := (*lockstep.ConfigError)(nil)
	if name := c.String(ConfigFlag.Name); name != "" && errors.As(err, &refusal) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}
