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

// errDisagreed is the verdict on an imported match whose players' checksums
// differ.
var errDisagreed = errors.New("the players' checksums differ: a desync")

// A foreign is an imported match, as verify --json prints it.
type foreign struct {
	Foreign bool         `json:"foreign"` // compared with each other only
	Class   replay.Class `json:"class"`
	Signed  *bool        `json:"signed,omitempty"` // with the key that was asked for; nil for no key
	*desync.Imported
	Error string `json:"error,omitempty"`
}

// verifyForeign compares the checksums that the players of an imported match
// reported with each other.
func verifyForeign(c *cli.Context, r *replay.Reader, signed *bool) error {
	m, err := desync.CompareReports(r)
	if len(m.Differ) > 0 {
		err = errors.Join(errDisagreed, err)
	}
	v := &foreign{true, fileClass(err), signed, m, errorText(err)}
	if !c.Bool("json") {
		v.print(c.App.Writer, err)
	} else if werr := writeJSON(c.App.Writer, v); werr != nil {
		return werr
	}
	return err
}

// print prints the verdict; err is why it is not of the whole file.
func (v *foreign) print(w io.Writer, err error) {
	fmt.Fprintf(w, "compared   %s that players reported, with each other only: the game's code is not here\n", count(v.Checks, "check"))
	for _, g := range v.Differ {
		stays := "to the end"
		if g.Healed > 0 {
			stays = fmt.Sprintf("not any more at tick %d", g.Healed)
		} else if g.Gone > 0 {
			stays = fmt.Sprintf("until it reported nothing more, from tick %d on", g.Gone)
		}
		fmt.Fprintf(w, "player %-3d differs in %d of %s, first at tick %d, %s\n", g.Player, g.Checks, count(v.Checks, "check"), g.First, stays)
	}
	if v.Ties > 0 {
		fmt.Fprintf(w, "ties       in %s no group of players was the largest\n", count(v.Ties, "check"))
	}
	if v.Alone > 0 {
		fmt.Fprintf(w, "alone      %s reported by no more than one player: nothing to compare\n", were(v.Alone, "check"))
	}
	switch {
	case len(v.Differ) == 0 && v.Alone == v.Checks:
		fmt.Fprintf(w, "verdict    not known: no check was reported by two players\n")
	case len(v.Differ) > 0:
		fmt.Fprintf(w, "verdict    DESYNC, first at tick %d: player %d; %s\n", v.Differ[0].First, v.Differ[0].Player, v.others())
	case !v.Ended:
		fmt.Fprintf(w, "verdict    the players agree up to tick %d, where the file cannot be read on\n", v.Ticks)
	case err != nil:
		fmt.Fprintf(w, "verdict    the players agree, but the file is %s after the match's end\n", cmp.Or(string(fileClass(err)), "not readable"))
	default:
		fmt.Fprintf(w, "verdict    the players agree\n")
	}
}

// others tells whether the players who do not differ agree.
func (v *foreign) others() string {
	if v.Ties > 0 {
		return "no verdict on who is right"
	}
	return "the others agree"
}

// were returns a count with its verb: 1 check was, 2 checks were.
func were(n int, thing string) string {
	if n == 1 {
		return count(n, thing) + " was"
	}
	return count(n, thing) + " were"
}
