package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayVerifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "simulate a replay again and compare every checksum in it",
		ArgsUsage: "FILE|BUNDLE",
		Description: `Exits with 0 only if the whole match was simulated and every checksum and keyframe
in the file is that of the simulation. If the file is cut short, verify goes up to
the cut, and exits with 4. Of a bundle, it verifies the replay inside, which ends
when the bundle was written. Of an imported match, it only compares the checksums
that players reported with each other.`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.BoolFlag{Name: "keep-going", Usage: "continue after a difference, to tell whether it stays"},
			maxTicksFlag,
			&cli.StringFlag{Name: "key", Usage: "require a signature by the public key in `FILE` (PEM)"},
			&cli.IntFlag{Name: "workers", Usage: "simulate the intervals between keyframes in `N` goroutines (default: one for each processor, fewer for large states)"},
			followFlag, delayFlag, idleFlag,
		},
		Action: onReplay(replayVerify),
	}
}

func replayVerify(c *cli.Context, f *replayFile) error {
	if err := between(c, "workers", 0, 0); err != nil {
		return err
	}
	if c.Bool("follow") {
		if c.IsSet("key") {
			return usagef("--key cannot be used with --follow: a match is signed when it is over")
		}
		return followVerify(c, f)
	}
	r, err := f.reader()
	if err != nil {
		return refuse(c, err, nil)
	}
	var signed *bool // nil without --key
	if c.IsSet("key") {
		signed = new(bool)
		if err := verifySignature(r, c.String("key")); err != nil {
			return refuse(c, err, signed)
		}
		*signed = true
		if !c.Bool("json") {
			fmt.Fprintf(c.App.Writer, "signed     with the key in %s\n", shown(c.String("key")))
		}
	}
	game, header, err := f.game()
	if header != nil && header.Engine == foreignEngine {
		return verifyForeign(c, f, signed)
	}
	if err != nil {
		return refuse(c, err, signed)
	}
	if r, err = f.reader(); err != nil {
		return err
	}
	o, done := simulateOptions(c)
	from := time.Now()
	v, err := replay.Verify(r, game, replay.VerifyOptions{
		MaxTicks: o.MaxTicks, Progress: o.Progress, KeepGoing: c.Bool("keep-going"), Workers: c.Int("workers"),
	})
	done()
	x := &verified{Verification: v, verdict: desync.Attribute(r, game, v, o), bundle: f.bundle, signed: signed}
	return x.tell(c, header, err, time.Since(from))
}

func followVerify(c *cli.Context, f *replayFile) error {
	var header *lockstep.Header
	if err := follow(c, f, func(ctx context.Context, l *replay.LiveReader) error {
		rec, err := l.Next(ctx)
		if err == nil {
			header = rec.Header
		}
		return err
	}); err != nil {
		return err
	}
	game, err := gameOf(header)
	if err != nil {
		return err
	}
	v := &verified{verdict: &desync.Verdict{}} // of an interrupt before the first record
	from := time.Now()
	err = follow(c, f, func(ctx context.Context, l *replay.LiveReader) error {
		v.Verification, err = replay.VerifyLive(ctx, l, game, replay.VerifyOptions{MaxTicks: maxTicks(c), KeepGoing: c.Bool("keep-going")})
		if r, rerr := l.Reopen(); rerr == nil {
			v.verdict = desync.Attribute(r, game, v.Verification, replay.SimulateOptions{MaxTicks: maxTicks(c)})
		}
		return err
	})
	if errors.Is(err, context.Canceled) {
		err = errUnfinished
	}
	return v.tell(c, header, err, time.Since(from))
}

// A verified is the result of a verification, and the verdict on it.
type verified struct {
	*replay.Verification
	verdict *desync.Verdict
	bundle  *replay.Bundle // that holds the replay; nil for a replay of its own
	signed  *bool          // by the key of --key; nil without it
}

// tell prints the result, and returns the error for the exit code.
func (v *verified) tell(c *cli.Context, header *lockstep.Header, err error, took time.Duration) error {
	v.Header = header
	if v.bundle != nil && fileClass(err) == replay.ClassTorn {
		err = nil // the match went on when the bundle was written
	}
	if v.First != nil && err != error(v.First) {
		err = errors.Join(v.First, err) // the file is also damaged after the difference
	}
	return tell(c, v.json(err, took), func(w io.Writer) { v.print(newLiner(w), err, took) }, err)
}

// print prints the verdict. A non-nil err is the reason that it does not cover the whole match.
func (v *verified) print(line liner, err error, took time.Duration) {
	if v.bundle != nil {
		m := &v.bundle.Manifest
		player := fmt.Sprintf("of player %d", m.Player)
		if m.Tie {
			player = "without a majority"
		}
		line("bundle", "of the desync %s at tick %d: the replay in it is verified", player, m.Tick)
	}
	line("simulated", "%s with %s in %s, %.0fx real time", count(v.Ticks, "tick"), count(v.Commands, "command"), seconds(took), timesRealTime(v.Verification, took))
	line("compared", "%s: %d equal, %d differ", count(v.Checked, "checksum"), v.Checked-v.Differed, v.Differed)
	if v.Mismatches > 0 {
		line("players", "%s differed when the match was played", count(v.Mismatches, "checksum"))
	}
	for _, kind := range v.UnknownSignatures {
		line("signature", "of unknown kind %d: not checked", kind)
	}
	for i := range v.verdict.Blames {
		line("wrong", "%s", blameText(&v.verdict.Blames[i]))
	}
	line("verdict", "%s", v.verdictText(err))
}

func (v *verified) verdictText(err error) string {
	switch class := fileClass(err); {
	case v.First != nil:
		return fmt.Sprintf("DESYNC, first at tick %d: %s", v.First.Tick, v.verdict.Text)
	case v.Ended && err == nil:
		return "true: every checksum is that of the simulation"
	case v.Ended:
		return fmt.Sprintf("the match is true, but the file is %s after the match's end", cmp.Or(string(class), "unreadable"))
	case v.bundle != nil && err == nil:
		return fmt.Sprintf("true up to tick %d, where the replay in the bundle ends; see desync explain for the desync", v.Ticks)
	case class == replay.ClassUnsupported:
		return fmt.Sprintf("true up to tick %d; the rest needs a newer reader", v.Ticks)
	case class == replay.ClassTorn || class == replay.ClassCorrupt || class == replay.ClassInvalid:
		return fmt.Sprintf("true up to tick %d, where the file becomes unreadable", v.Ticks)
	}
	return fmt.Sprintf("true up to tick %d; the rest was not verified", v.Ticks)
}

// blameText describes who was wrong, when, and whether it stayed.
func blameText(b *desync.Blame) string {
	who, again := fmt.Sprintf("player %d", b.Player), "it was right again, or silent, at tick %d"
	if b.Who != desync.WrongPlayer {
		who, again = parties[b.Who], "it was right again at tick %d"
	}
	text := fmt.Sprintf("%s at tick %d; ", who, b.First)
	switch {
	case b.Checks > 1:
		text = fmt.Sprintf("%s in %s, of ticks %d to %d; ", who, count(b.Checks, "check"), b.First, b.Last)
	case b.Open:
		return text + "--keep-going tells whether it stays"
	}
	if b.Healed > 0 {
		return text + fmt.Sprintf(again, b.Healed)
	}
	if b.Gone > 0 {
		return text + fmt.Sprintf("it stayed until the player was gone at tick %d", b.Gone)
	}
	return text + "it stayed to the end"
}

// parties names the parties that are not players.
var parties = map[desync.Party]string{
	desync.WrongReferee:  "the referee",
	desync.WrongBuild:    "this build or the file",
	desync.WrongKeyframe: "the keyframe",
	desync.WrongUnclear:  "the referee or this build",
}

// timesRealTime returns how many times faster than the match a simulation was.
func timesRealTime(v *replay.Verification, took time.Duration) float64 {
	return float64(v.Ticks) / float64(v.Header.Settings.TickRate) / max(took.Seconds(), 1e-9)
}

func (v *verified) json(err error, took time.Duration) any {
	return struct {
		*replay.Verification
		Blames        []desync.Blame  `json:"blames"`
		Class         replay.Class    `json:"class"`
		Signed        *bool           `json:"signed,omitempty"` // by the key of --key; nil without it
		First         *differenceJSON `json:"first"`            // replaces the one of Verification
		Game          string          `json:"game"`
		Match         string          `json:"match"`
		Seconds       float64         `json:"seconds"`
		TimesRealTime float64         `json:"times_real_time"`
		Error         string          `json:"error,omitempty"`
	}{
		Verification: v.Verification, Blames: v.verdict.Blames, Class: fileClass(err), Signed: v.signed, First: newDifferenceJSON(v.First), Game: v.Header.Game, Match: v.Header.Match.String(),
		Seconds: took.Seconds(), TimesRealTime: timesRealTime(v.Verification, took), Error: errorText(err),
	}
}

// A differenceJSON is a checksum that differs, as text.
type differenceJSON struct {
	Tick     lockstep.Tick `json:"tick"`
	Got      string        `json:"got"`
	Want     string        `json:"want"`
	Keyframe bool          `json:"keyframe"`
}

func newDifferenceJSON(e *lockstep.DesyncError) *differenceJSON {
	if e == nil {
		return nil
	}
	return &differenceJSON{e.Tick, checksum.FormatHash(e.Got), checksum.FormatHash(e.Want), e.Keyframe}
}

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
