//go:build !js

package replays

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// AuditCommand returns the verb audit.
func AuditCommand() *cli.Command {
	return &cli.Command{
		Name:      "audit",
		Usage:     "list commands that refer to what their player had never seen",
		ArgsUsage: "FILE [FILE...]",
		Description: `Simulates matches, and follows what each player has seen by the views of the rules. A
player who reads what the fog hides refers to elements that no view has shown: audit lists
such commands, and how many there would be if a player had named elements by chance. The
rules say which fields of commands refer to elements: feed:"of=Units" (docs/feed.md).`,
		Flags:  []cli.Flag{&cli.IntFlag{Name: "player", Usage: "only player `N`", DefaultText: "all players", Value: -1}, gameset.MaxTicksFlag, gameset.AssetsFlag, console.JSONFlag},
		Action: audit,
	}
}

// A fileAudit is the audits of one file.
type fileAudit struct {
	File    string         `json:"file"`
	Players []replay.Audit `json:"players"`
}

// WriteText writes the audits for people.
func (a *fileAudit) WriteText(w io.Writer) error {
	fmt.Fprintln(w, console.Shown(a.File))
	line := console.NewLiner(w)
	for i := range a.Players {
		p := &a.Players[i]
		line(fmt.Sprintf("player %d", p.Player), "%s, %s; %d to what it had not seen, by chance %.1f", console.Count(p.Commands, "command"), console.Count(p.References, "reference"), len(p.Unseen), p.Expected)
		for _, u := range p.Unseen {
			fmt.Fprintf(w, "  tick %d: %s: %s %d, one of %d not seen of %d\n", u.Tick, console.Shown(u.Command), u.List, u.ID, u.Unseen, u.Elements)
		}
	}
	return nil
}

func audit(c *cli.Context) error {
	if c.NArg() == 0 {
		return console.Usagef("want a replay")
	}
	player := c.Int("player")
	if player < -1 || player >= int(lockstep.MaxPlayers) {
		return console.Usagef("--player: got %d, want 0 to %d", player, lockstep.MaxPlayers-1)
	}
	for _, name := range c.Args().Slice() {
		a, err := auditFile(c, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if player >= 0 {
			if player >= len(a.Players) {
				return console.Usagef("--player: %s has players 0 to %d", name, len(a.Players)-1)
			}
			a.Players = a.Players[player : player+1]
		}
		if c.Bool(console.JSONFlag.Name) {
			err = console.WriteLine(c.App.Writer, a)
		} else {
			err = a.WriteText(c.App.Writer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func auditFile(c *cli.Context, name string) (*fileAudit, error) {
	f, err := replay.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	game, _, err := gameset.GameIn(c, f)
	if err != nil {
		return nil, err
	}
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	if game.ViewSchema() == nil {
		return nil, &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("the rules of %s have no views (Rules.View)", game.Name())}
	}
	all, err := replay.AuditPlayers(r, game, replay.SimulateOptions{MaxTicks: gameset.MaxTicks(c)})
	if errors.Is(err, replay.ErrNoReferences) {
		err = &console.ClassError{Class: replay.ClassIdentity, Text: err.Error()}
	}
	return &fileAudit{name, all}, err
}
