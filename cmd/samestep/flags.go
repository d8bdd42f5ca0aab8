package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves the flags of the command that args name before its other
// arguments, because the cli library takes everything after the first argument
// for arguments, and people write "verify FILE --json".
func flagsFirst(app *cli.App, args []string) []string {
	at, commands := 1, app.Commands
	var flags []cli.Flag
	for at < len(args) && len(commands) > 0 {
		command := find(commands, args[at])
		if command == nil {
			return args // of the library: help, a flag of the whole program, a mistake
		}
		commands, flags = command.Subcommands, command.Flags
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
			if takesValue(flags, arg) && i+1 < len(args) {
				i++
				first = append(first, args[i])
			}
		}
	}
	sorted := append(append([]string{}, args[:at]...), first...)
	if len(rest) > 0 {
		sorted = append(append(sorted, "--"), rest...)
	}
	return sorted
}

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// takesValue reports whether the flag that arg names has its value in the next
// argument.
func takesValue(flags []cli.Flag, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false
}
