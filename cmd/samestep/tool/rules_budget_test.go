//go:build unix

package tool

import (
	"context"
	"flag"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
)

// The first interrupt of a verb ends the calls of all modules, those of budgets that were made before and after, and the end of the
// verb's loop ends none.
func TestInterruptedVerb(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		app := cli.NewApp()
		app.Metadata = map[string]any{gameset.GamesKey: gameset.List{}}
		c := cli.NewContext(app, flag.NewFlagSet("", flag.ContinueOnError), &cli.Context{Context: t.Context()})
		c.Command = replays.AuditCommand()
		gameset.TakesRules(c.Command)
		if err := gameset.PrepareGames(c); err != nil {
			t.Fatal(err)
		}
		before := gameset.NewBudget(c)
		ctx, stop := console.Interruptible(c)
		after := gameset.NewBudget(c)
		if interrupted {
			if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			<-ctx.Done()
		}
		if !interrupted {
			stop()
		}
		for _, calls := range []context.Context{before.Context, after.Context} {
			select {
			case <-calls.Done():
				if !interrupted {
					t.Error("the calls ended with the verb's loop")
				}
			case <-time.After(map[bool]time.Duration{true: 10 * time.Second}[interrupted]):
				if interrupted {
					t.Error("the calls go on after an interrupt")
				}
			}
		}
		stop()
	}
}
