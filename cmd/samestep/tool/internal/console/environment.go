//go:build !js

package console

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// TokenEnv names the environment variable with a client's token.
const TokenEnv = "SAMESTEP_TOKEN"

// FromEnvironment returns copies of flags that a variable of the environment sets if the command line leaves them out:
// SAMESTEP_TICK_RATE sets --tick-rate. Variables with another meaning set no flag.
func FromEnvironment(flags []cli.Flag) (all []cli.Flag) {
	for _, f := range flags {
		vars := []string{"SAMESTEP_" + strings.ToUpper(strings.ReplaceAll(f.Names()[0], "-", "_"))}
		if vars[0] == TokensEnv || vars[0] == TokenEnv {
			vars = nil
		}
		switch flag := f.(type) {
		case *cli.BoolFlag:
			same := *flag
			same.EnvVars = vars
			f = &same
		case *cli.StringFlag:
			same := *flag
			same.EnvVars = vars
			f = &same
		case *cli.StringSliceFlag:
			f = ListFrom(flag, vars...)
		case *cli.UintFlag:
			same := *flag
			same.EnvVars = vars
			f = &same
		case *cli.Uint64Flag:
			same := *flag
			same.EnvVars = vars
			f = &same
		case *cli.DurationFlag:
			same := *flag
			same.EnvVars = vars
			f = &same
		}
		all = append(all, f)
	}
	return all
}

// ListFrom returns a copy of a flag that variables set. One that is set but empty sets no item.
func ListFrom(f *cli.StringSliceFlag, vars ...string) *cli.StringSliceFlag {
	same := *f
	same.EnvVars = slices.DeleteFunc(vars, func(name string) bool {
		value, set := os.LookupEnv(name)
		return set && value == ""
	})
	return &same
}

// TokensEnv names the environment variable with a list of tokens.
const TokensEnv = "SAMESTEP_TOKENS"
