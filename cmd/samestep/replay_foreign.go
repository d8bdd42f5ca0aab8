package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// errDisagreed is the verdict on an imported match whose players' checksums
// differ.
var errDisagreed = errors.New("the players' checksums differ: a desync")

// A foreignVerdict is what the players' reports tell of a match that cannot be
// simulated here.
type foreignVerdict struct {
	Foreign bool            `json:"foreign"` // compared with each other only
	Class   replay.Class    `json:"class"`
	Signed  *bool           `json:"signed,omitempty"` // with the key that was asked for; nil for no key
	Checks  int             `json:"checks"`
	Alone   int             `json:"alone"` // checks that no more than one player reported: nothing was compared
	Ticks   lockstep.Tick   `json:"ticks"`
	Differ  []*foreignGroup `json:"differ"` // players, in the order in which they parted from the others
	Ties    int             `json:"ties"`   // checks in which no group was the largest
	Ended   bool            `json:"ended"`
	Error   string          `json:"error,omitempty"`

	last   lockstep.Tick // of the last check
	silent [256]bool     // who did not report it
	next   [256]bool     // by player: the next checksum is missing
	seats  lockstep.Player
}

// A foreignGroup is a player who differs from the others.
type foreignGroup struct {
	Player lockstep.Player `json:"player"`
	Checks int             `json:"checks"` // in which it differs
	First  lockstep.Tick   `json:"first"`
	Last   lockstep.Tick   `json:"last"`

	// Healed is the first check after Last at which the player agreed; 0 if there
	// is none, so that the difference stayed.
	Healed lockstep.Tick `json:"healed"`

	// Gone is the first check after Last that the player did not report, if it
	// reported none since.
	Gone lockstep.Tick `json:"gone"`
}

// verifyForeign compares the checksums that the players of an imported match
// reported with each other.
func verifyForeign(c *cli.Context, r *replay.Reader, signed *bool) error {
	v := &foreignVerdict{Foreign: true, Signed: signed, Differ: []*foreignGroup{}}
	err := replay.Play(r, nil, v.record)
	v.settle()
	if len(v.Differ) > 0 {
		err = errors.Join(errDisagreed, err)
	}
	v.Class, v.Error = fileClass(err), errorText(err)
	if !c.Bool("json") {
		v.print(c.App.Writer, err)
	} else if werr := writeJSON(c.App.Writer, v); werr != nil {
		return werr
	}
	return err
}

func (v *foreignVerdict) record(rec *lockstep.Record) error {
	switch rec.Kind {
	case lockstep.RecordHeader:
		v.seats = lockstep.Player(rec.Header.Settings.Players)
	case lockstep.RecordNote:
		if rec.Topic == topicReports {
			v.next[rec.Player] = rec.Text != "yes"
		}
	case lockstep.RecordFrame, lockstep.RecordEmpty:
		v.Ticks = rec.Tick
	case lockstep.RecordEnd:
		v.Ended = true
	case lockstep.RecordChecksum:
		v.begin(rec.Tick)
	case lockstep.RecordDissent:
		if v.Checks == 0 || v.last != rec.Tick {
			v.begin(rec.Tick)
			v.Ties++
		}
		v.differs(rec.Player, rec.Tick)
	}
	return nil
}

// begin goes on to the check of a tick.
func (v *foreignVerdict) begin(t lockstep.Tick) {
	v.settle()
	v.Checks++
	v.last, v.silent = t, v.next
	reported := 0
	for p := range v.seats {
		if !v.silent[p] {
			reported++
		}
	}
	if reported < 2 {
		v.Alone++
	}
}

// settle notes who did not differ in the last check.
func (v *foreignVerdict) settle() {
	for _, g := range v.Differ {
		switch {
		case g.Healed > 0 || g.Last == v.last:
		case !v.silent[g.Player]:
			g.Healed, g.Gone = v.last, 0
		case g.Gone == 0:
			g.Gone = v.last
		}
	}
}

func (v *foreignVerdict) differs(p lockstep.Player, t lockstep.Tick) {
	for _, g := range v.Differ {
		if g.Player == p {
			g.Checks++
			g.Last, g.Healed, g.Gone = t, 0, 0
			return
		}
	}
	v.Differ = append(v.Differ, &foreignGroup{Player: p, Checks: 1, First: t, Last: t})
}

// print prints the verdict; err is why it is not of the whole file.
func (v *foreignVerdict) print(w io.Writer, err error) {
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

// others says how those stand who are not named.
func (v *foreignVerdict) others() string {
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
