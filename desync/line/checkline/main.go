// Command checkline prints the line of code behind a failed check of a test. Package kit/locksteptest runs it with the file
// of a program.TestJob, so that no test of a game links what reads and builds sources.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/desync/probe/program"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("missing job file: only locksteptest.Check runs this program")
	}
	var j program.TestJob
	if err := program.ReadJSON(args[0], &j); err != nil {
		return err
	}
	for name, value := range j.Env {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	ctx, stop := context.WithDeadlineCause(context.Background(), time.Unix(j.Until, 0), errors.New("time limit exceeded"))
	defer stop()
	found, err := line.Check(ctx, j)
	if err != nil {
		return err
	}
	return found.WriteFinding(os.Stdout)
}
