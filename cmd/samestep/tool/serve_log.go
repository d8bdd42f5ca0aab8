//go:build !js

package tool

import (
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"
)

// logFlags say what newLog returns.
var logFlags = []cli.Flag{
	&cli.StringFlag{Name: "log-format", Value: "text", Usage: "write the log as text or json"},
	&cli.StringFlag{Name: "log-level", Value: "info", Usage: "log lines of this `LEVEL` and above: debug, info, warn or error"},
	&cli.BoolFlag{Name: "quiet", Usage: "log warnings and errors only, as --log-level warn"},
}

// newLog returns the log of a server, which is the standard error output.
func newLog(c *cli.Context) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil || strings.ContainsAny(c.String("log-level"), "+-") {
		return nil, usagef("--log-level: got %q, want debug, info, warn or error", c.String("log-level"))
	}
	if c.Bool("quiet") {
		level = max(level, slog.LevelWarn)
	}
	o := &slog.HandlerOptions{Level: level}
	switch c.String("log-format") {
	case "text":
		return slog.New(slog.NewTextHandler(c.App.ErrWriter, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.App.ErrWriter, o)), nil
	}
	return nil, usagef("--log-format: got %q, want text or json", c.String("log-format"))
}
