package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/replay"
)

// errDisagreed is the verdict on an imported match in which the players' checksums differ.
var errDisagreed = errors.New("the players' checksums differ: a desync")

// A foreign is the verdict of verify on an imported match.
type foreign struct {
	Foreign bool         `json:"foreign"` // the players were compared with each other only
	Class   replay.Class `json:"class"`
	Signed  *bool        `json:"signed,omitempty"` // by the key of --key; nil without it
	*desync.Imported
	Error string `json:"error,omitempty"`
}

// verifyForeign compares the checksums of an imported match's players with each other.
func verifyForeign(c *cli.Context, f *replayFile, signed *bool) error {
	r, err := f.reader()
	if err != nil {
		return err
	}
	m, err := desync.CompareReports(r)
	if len(m.Differ) > 0 {
		err = errors.Join(errDisagreed, err)
	}
	v := &foreign{true, fileClass(err), signed, m, errorText(err)}
	return tell(c, v, func(w io.Writer) { v.print(newLiner(w), err) }, err)
}

// print prints the verdict. A non-nil err is the reason that it does not cover the whole file.
func (v *foreign) print(line liner, err error) {
	line("compared", "%s that players reported, with each other only: the game's code is not here", count(v.Checks, "check"))
	for _, g := range v.Differ {
		stays := "to the end"
		if g.Healed > 0 {
			stays = fmt.Sprintf("until tick %d, where it agrees again", g.Healed)
		} else if g.Gone > 0 {
			stays = fmt.Sprintf("until its reports end, at tick %d", g.Gone)
		}
		line(fmt.Sprintf("player %d", g.Player), "differs in %d of %s, first at tick %d, %s", g.Checks, count(v.Checks, "check"), g.First, stays)
	}
	if v.Ties > 0 {
		line("ties", "in %s no group of players was the largest", count(v.Ties, "check"))
	}
	if v.Alone > 0 {
		line("alone", "%s by at most one player: nothing to compare", plural(v.Alone, "check", "was reported", "were reported"))
	}
	line("verdict", "%s", v.verdict(err))
}

func (v *foreign) verdict(err error) string {
	switch {
	case len(v.Differ) == 0 && v.Alone == v.Checks:
		return "unknown: no check was reported by two players"
	case len(v.Differ) > 0:
		others := "the others agree"
		if v.Ties > 0 {
			others = "no verdict on who is right"
		}
		return fmt.Sprintf("DESYNC, first at tick %d: player %d; %s", v.Differ[0].First, v.Differ[0].Player, others)
	case !v.Ended:
		return fmt.Sprintf("the players agree up to tick %d, where the file becomes unreadable", v.Ticks)
	case err != nil:
		return fmt.Sprintf("the players agree, but the file is %s after the match's end", cmp.Or(string(fileClass(err)), "unreadable"))
	}
	return "the players agree"
}

// plural formats a count with its verb: 1 check was, 2 checks were.
func plural(n int, thing, one, many string) string {
	if n == 1 {
		return count(n, thing) + " " + one
	}
	return count(n, thing) + " " + many
}
