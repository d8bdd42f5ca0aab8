package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	code, err := command(os.Args[1:])
	if err != nil && !errors.Is(err, errFailed) {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// command runs one of the commands, and returns the exit code.
func command(args []string) (int, error) {
	if len(args) == 0 {
		return 2, errors.New("ci: want run, test, long, fuzz or timed")
	}
	var err error
	switch name, args := args[0], args[1:]; name {
	case "run":
		err = runTable(args, os.Stdin, os.Stdout)
	case "test":
		err = goTest(args, os.Stdout)
	case "long":
		err = long(args, os.Stdout)
	case "fuzz":
		err = fuzz(args, os.Stdout)
	case "timed":
		return runTimed(args)
	default:
		return 2, fmt.Errorf("ci: got the command %q, want run, test, long, fuzz or timed", name)
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
