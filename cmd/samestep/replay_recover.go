package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayRecoverCommand() *cli.Command {
	return &cli.Command{
		Name:      "recover",
		Usage:     "write what can be read of a torn or damaged replay",
		ArgsUsage: "IN OUT",
		Description: `A file that a crash cut short loses what is torn. Where a file is damaged inside,
OUT ends before the damage, since ticks would be missing, and the output says
where the damage is, which ticks are lost, and where the file can be read again.`,
		Flags:        []cli.Flag{jsonFlag, segmentFlag},
		OnUsageError: usageError,
		Action: watched(func(c *cli.Context, r *replay.Reader, w *replay.Writer) error {
			found, err := replay.Recover(w, r)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				err = writeJSON(c.App.Writer, recoveryJSON(found))
			} else {
				err = printRecovery(c, found)
			}
			return err
		}),
	}
}

func printRecovery(c *cli.Context, found *replay.Recovery) error {
	d := found.Damage
	switch {
	case d == nil:
		_, err := fmt.Fprintf(c.App.Writer, "whole: all %s are there\n", count(found.Ticks, "tick"))
		return err
	case d.Next == 0:
		_, err := fmt.Fprintf(c.App.Writer, "torn at byte %d: %s are left\n", d.Offset, count(found.Ticks, "tick"))
		return err
	case d.NextTick == 0:
		_, err := fmt.Fprintf(c.App.Writer, "damaged at byte %d: %s are left; ticks from %d on are lost, though there is more from byte %d on\n",
			d.Offset, count(found.Ticks, "tick"), found.Ticks+1, d.Next)
		return err
	}
	_, err := fmt.Fprintf(c.App.Writer, "damaged at byte %d: %s are left; ticks %d to %d are lost, and the match goes on from byte %d, which is not in the new file\n",
		d.Offset, count(found.Ticks, "tick"), found.Ticks+1, d.NextTick, d.Next)
	return err
}

// recoveryJSON returns what recover --json prints.
func recoveryJSON(found *replay.Recovery) any {
	d := found.Damage
	if d == nil {
		d = &replay.DamageError{}
	}
	return struct {
		Ticks    lockstep.Tick `json:"ticks"`
		Whole    bool          `json:"whole"`
		Offset   int64         `json:"offset,string"` // of the damage
		Next     int64         `json:"next,string"`   // of the next block that can be read; 0 if the file is torn
		NextTick lockstep.Tick `json:"next_tick"`     // that it goes on after; 0 if it does not say
	}{found.Ticks, found.Damage == nil, d.Offset, d.Next, d.NextTick}
}
