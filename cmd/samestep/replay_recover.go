package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayRecoverCommand() *cli.Command {
	return &cli.Command{
		Name:      "recover",
		Usage:     "save the readable part of a torn or damaged replay",
		ArgsUsage: "IN OUT",
		Description: `OUT ends where a crash has cut the file short, or before the first damage inside it,
since ticks would be missing. The output tells where the damage is, which ticks are
lost, and where the file can be read again.`,
		Flags: []cli.Flag{jsonFlag, segmentFlag},
		Action: sealed(func(c *cli.Context, r *replay.Reader, w *replay.Writer) error {
			found, err := replay.Recover(w, r)
			if err != nil {
				return err
			}
			return tell(c, recoveryJSON(found), func(w io.Writer) { fmt.Fprintln(w, recoveryText(found)) }, nil)
		}),
	}
}

func recoveryText(found *replay.Recovery) string {
	d, ticks := found.Damage, count(found.Ticks, "tick")
	switch {
	case d == nil:
		return fmt.Sprintf("whole: all %s are there", ticks)
	case d.Next == 0:
		return fmt.Sprintf("torn at byte %d: %s are left", d.Offset, ticks)
	case d.NextTick == 0:
		return fmt.Sprintf("damaged at byte %d: %s are left; ticks from %d on are lost, though there is more from byte %d on", d.Offset, ticks, found.Ticks+1, d.Next)
	}
	return fmt.Sprintf("damaged at byte %d: %s are left; ticks %d to %d are lost, and the match goes on from byte %d, which is not in the new file",
		d.Offset, ticks, found.Ticks+1, d.NextTick, d.Next)
}

func recoveryJSON(found *replay.Recovery) any {
	d := found.Damage
	if d == nil {
		d = &replay.DamageError{}
	}
	return struct {
		Ticks    lockstep.Tick `json:"ticks"`
		Whole    bool          `json:"whole"`
		Offset   int64         `json:"offset,string"` // of the damage
		Next     int64         `json:"next,string"`   // the next readable block; 0 if the file is torn
		NextTick lockstep.Tick `json:"next_tick"`     // the tick before that block; 0 if it is not known
	}{found.Ticks, found.Damage == nil, d.Offset, d.Next, d.NextTick}
}
