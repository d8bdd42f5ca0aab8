//go:build !js

package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// A usageError is a mistake in the command line.
type usageError struct {
	command string // such as replay verify; empty until prepare names it
	text    string
}

func (e *usageError) Error() string {
	if e.command == "" {
		return "usage: " + e.text
	}
	return "usage: " + e.command + ": " + e.text
}

// Usagef returns an error of the command line.
func Usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// IsUsage reports whether an error is one of the command line.
func IsUsage(err error) bool { return errors.As(err, new(*usageError)) }

// NameCommand adds the command to a usage error, and returns err.
func NameCommand(err error, c *cli.Command) error {
	var usage *usageError
	if errors.As(err, &usage) {
		usage.command = usageName(c.HelpName)
	}
	return err
}

// usageName returns a command's name without that of the program.
func usageName(help string) string {
	_, command, _ := strings.Cut(help, " ")
	return command
}

// CheckArguments compares the number of arguments with the command's ArgsUsage.
func CheckArguments(c *cli.Context) error {
	want := c.Command.ArgsUsage
	switch {
	case takes(want, c.NArg()):
		return nil
	case want == "":
		return Usagef("unexpected argument %q", c.Args().First())
	}
	return Usagef("got %s, want %s", Count(c.NArg(), "argument"), want)
}

// takes reports whether a usage such as "A B | A --player N" or "FILE [OUT]" has a form with n arguments.
func takes(usage string, n int) bool {
	return slices.ContainsFunc(strings.Split(usage, " | "), func(form string) bool {
		form, _, _ = strings.Cut(form, " --") // a flag is not an argument
		words := strings.Fields(form)
		optional := strings.Count(form, "[")
		return n >= len(words)-optional && (n <= len(words) || strings.Contains(form, "..."))
	})
}

// Between returns a usage error unless the value of a flag is in a range. A high of 0 sets no upper limit.
func Between[T int | uint | time.Duration](c *cli.Context, flag string, low, high T) error {
	switch got := c.Value(flag).(T); {
	case got >= low && (high == 0 || got <= high):
		return nil
	case high == 0:
		return Usagef("%s: got %v, want at least %v", Spelled(c, flag), got, low)
	default:
		return Usagef("%s: got %v, want %v to %v", Spelled(c, flag), got, low, high)
	}
}

// FlagsFirst moves the flags of the command in args before its other arguments. The cli library stops reading flags at
// the first argument, and people write "verify FILE --json".
func FlagsFirst(app *cli.App, args []string) []string {
	at, commands := 1, app.Commands
	var flags []cli.Flag
	for at < len(args) && len(commands) > 0 {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[at]) })
		if i < 0 {
			return args // help, a flag of the whole program, or a mistake, which the library handles
		}
		flags, commands = commands[i].Flags, commands[i].Subcommands
		at++
	}
	var first, rest []string
	for i := at; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case len(arg) < 2 || arg[0] != '-':
			rest = append(rest, arg)
		default:
			first = append(first, arg)
			if TakesValue(flags, arg) && i+1 < len(args) {
				i++
				first = append(first, args[i])
			}
		}
	}
	if len(rest) > 0 {
		rest = append([]string{"--"}, rest...)
	}
	return slices.Concat(args[:at], first, rest)
}

// TakesValue reports whether the value of a flag is the next argument.
func TakesValue(flags []cli.Flag, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return false
	}
	return !IsBool(flags[i])
}

// HasFlag reports whether a command has a flag.
func HasFlag(c *cli.Command, name string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == name })
}
