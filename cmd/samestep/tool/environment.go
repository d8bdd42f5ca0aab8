//go:build !js

package tool

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// tokenEnv names the environment variable with a client's token.
const tokenEnv = "SAMESTEP_TOKEN"

// fromEnvironment returns copies of flags that a variable of the environment sets if the command line leaves them out:
// SAMESTEP_TICK_RATE sets --tick-rate. Variables with another meaning set no flag.
func fromEnvironment(flags []cli.Flag) (all []cli.Flag) {
	for _, f := range flags {
		vars := []string{"SAMESTEP_" + strings.ToUpper(strings.ReplaceAll(f.Names()[0], "-", "_"))}
		if vars[0] == tokensEnv || vars[0] == tokenEnv {
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
			f = listFrom(flag, vars...)
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

// listFrom returns a copy of a flag that variables set. One that is set but empty sets no item.
func listFrom(f *cli.StringSliceFlag, vars ...string) *cli.StringSliceFlag {
	same := *f
	same.EnvVars = slices.DeleteFunc(vars, func(name string) bool {
		value, set := os.LookupEnv(name)
		return set && value == ""
	})
	return &same
}

// tokensEnv names the environment variable with a list of tokens.
const tokensEnv = "SAMESTEP_TOKENS"
