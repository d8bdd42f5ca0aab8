//go:build !js

package serving

import (
	"cmp"
	"log/slog"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/urfave/cli/v2"
)

// LogFlags say what NewLog returns.
var LogFlags = []cli.Flag{logFormatFlag, logLevelFlag}

var (
	logFormatFlag = &cli.StringFlag{Name: "log-format", Value: "text", Usage: "write the log as text or json"}
	logLevelFlag  = &cli.StringFlag{Name: "log-level", Value: "info", Usage: "log lines of this `LEVEL` and above: debug, info, warn or error"}

	logFormats = []string{"text", "json"}
	logLevels  = []string{"debug", "info", "warn", "error"}
)

// NewLog returns the log of a server, which is the standard error output.
func NewLog(c *cli.Context) (*slog.Logger, error) {
	format, level := &console.Setting{Flag: logFormatFlag, Words: logFormats}, &console.Setting{Flag: logLevelFlag, Words: logLevels}
	if err := cmp.Or(format.Refuse(c), level.Refuse(c)); err != nil {
		return nil, err
	}
	o := &slog.HandlerOptions{}
	var least slog.Level
	if err := least.UnmarshalText([]byte(c.String(logLevelFlag.Name))); err != nil {
		return nil, err // it is one of logLevels
	}
	o.Level = least
	if c.String(logFormatFlag.Name) == "json" {
		return slog.New(slog.NewJSONHandler(c.App.ErrWriter, o)), nil
	}
	return slog.New(slog.NewTextHandler(c.App.ErrWriter, o)), nil
}
