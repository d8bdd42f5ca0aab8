package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"
)

// watchScreen has no terminal to show anything on.
func watchScreen(context.Context, *cli.Context, source) error {
	return errors.New("watch: there is no terminal; see --once")
}
