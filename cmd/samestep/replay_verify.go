package main

import (
	"cmp"
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
		Description: `Exits with 0 only if the whole match was simulated and every checksum and
keyframe in the file is that of the simulation. A cut file is verified up to
the cut, and exits with 4. Of a bundle, the replay in it is verified, which ends
where the bundle was written. Of an imported match, only the checksums that players
reported are compared with each other.`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.BoolFlag{Name: "keep-going", Usage: "simulate on after a difference, to tell whether it stays"},
			maxTicksFlag,
			&cli.StringFlag{Name: "key", Usage: "the file must be signed with the private half of the public key in `FILE` (PEM)"},
			&cli.IntFlag{Name: "workers", Usage: "simulate stretches between keyframes in `N` goroutines (default: one for each processor, fewer for large states)"},
			followFlag, delayFlag, idleFlag,
		},
		OnUsageError: usageError,
		Action:       onReplay(replayVerify),
	}
}

func replayVerify(c *cli.Context, f *replayFile) error {
	if c.Int("workers") < 0 {
		return usagef("verify: --workers: got %d, want at least 0", c.Int("workers"))
	}
	if c.Bool("follow") {
		if c.IsSet("key") {
			return usagef("verify: --key goes without --follow: a match is signed when it is over")
		}
		return followVerify(c, f)
	}
	var signed *bool // nil if no key was given
	r, err := f.reader()
	if err != nil {
		return refuse(c, err, signed)
	}
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
	game, header, err := gameInFile(r)
	if header != nil && header.Engine == foreignEngine {
		if r, err = f.reader(); err != nil {
			return err
		}
		return verifyForeign(c, r, signed)
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
	x := &verified{v, desync.Attribute(r, game, v, o)}
	return x.tell(c, header, f.bundle, signed, err, time.Since(from))
}

// A verified is a replay that was simulated, and the verdict on it.
type verified struct {
	*replay.Verification
	verdict *desync.Verdict
}

// tell prints the verdict and returns the error that tells of it. The bundle is
// the one that the replay is of, or nil, and signed is nil for no key.
func (v *verified) tell(c *cli.Context, header *lockstep.Header, bundle *replay.Bundle, signed *bool, err error, took time.Duration) error {
	v.Header = header
	if bundle != nil {
		if fileClass(err) == replay.ClassTorn {
			err = nil // the match went on when the bundle was written
		}
		if !c.Bool("json") {
			fmt.Fprintln(c.App.Writer, bundleLine(bundle))
		}
	}
	if v.First != nil && err != error(v.First) {
		err = errors.Join(v.First, err) // the file is damaged behind the difference
	}
	if !c.Bool("json") {
		v.print(c.App.Writer, bundle, err, took)
	} else if werr := writeJSON(c.App.Writer, v.json(signed, err, took)); werr != nil {
		return werr
	}
	return err
}

// gameInFile reads the header of a replay and returns the game that it is of.
func gameInFile(r *replay.Reader) (*lockstep.Game, *lockstep.Header, error) {
	rec, err := r.Next()
	if errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("no header: %w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	g, err := gameOf(rec.Header)
	return g, rec.Header, err
}

// print prints the verdict; err is why it is not of the whole match.
func (v *verified) print(w io.Writer, bundle *replay.Bundle, err error, took time.Duration) {
	fmt.Fprintf(w, "simulated  %s with %s in %s, %s\n", count(v.Ticks, "tick"), count(v.Commands, "command"), seconds(took), speed(v.Verification, took))
	fmt.Fprintf(w, "compared   %s: %d equal, %d differ\n", count(v.Checked, "checksum"), v.Checked-v.Differed, v.Differed)
	if v.Mismatches > 0 {
		fmt.Fprintf(w, "players    %s differed when the match was played\n", count(v.Mismatches, "checksum"))
	}
	for _, kind := range v.UnknownSignatures {
		fmt.Fprintf(w, "signature  of unknown kind %d: not checked\n", kind)
	}
	for i := range v.verdict.Blames {
		fmt.Fprintf(w, "wrong      %s\n", blameText(&v.verdict.Blames[i]))
	}
	switch class := fileClass(err); {
	case v.First != nil:
		fmt.Fprintf(w, "verdict    DESYNC, first at tick %d: %s\n", v.First.Tick, v.verdict.Text)
	case v.Ended && err == nil:
		fmt.Fprintf(w, "verdict    true: every checksum is that of the simulation\n")
	case v.Ended:
		fmt.Fprintf(w, "verdict    the match is true, but the file is %s after the match's end\n", cmp.Or(string(class), "not readable"))
	case bundle != nil && err == nil:
		fmt.Fprintf(w, "verdict    true up to tick %d, as far as the bundle has the match; desync explain tells of the desync\n", v.Ticks)
	case class == replay.ClassUnsupported:
		fmt.Fprintf(w, "verdict    unsupported after tick %d, up to which it is true: a newer reader may know more\n", v.Ticks)
	case class == replay.ClassTorn || class == replay.ClassCorrupt || class == replay.ClassInvalid:
		fmt.Fprintf(w, "verdict    true up to tick %d, where the file cannot be read on\n", v.Ticks)
	default:
		fmt.Fprintf(w, "verdict    true up to tick %d; the rest was not verified\n", v.Ticks)
	}
}

// blameText puts into words who was wrong, when, and whether it stayed.
func blameText(b *desync.Blame) string {
	who := fmt.Sprintf("player %d", b.Player)
	right := "right or silent"
	if b.Who != desync.WrongPlayer {
		who, right = parties[b.Who], "right"
	}
	text := fmt.Sprintf("%s at tick %d", who, b.First)
	switch {
	case b.Checks > 1:
		text = fmt.Sprintf("%s in %s, of ticks %d to %d", who, count(b.Checks, "check"), b.First, b.Last)
	case b.Open:
		return text + "; --keep-going tells whether it stays"
	}
	if b.Healed > 0 {
		return text + fmt.Sprintf("; it healed: %s at tick %d", right, b.Healed)
	}
	if b.Gone > 0 {
		return text + fmt.Sprintf("; it stayed until the player was gone at tick %d", b.Gone)
	}
	return text + "; it stayed to the end"
}

// parties are the names of those that are no players.
var parties = map[desync.Party]string{
	desync.WrongReferee:  "the referee",
	desync.WrongBuild:    "this build or the file",
	desync.WrongKeyframe: "the keyframe",
	desync.WrongUnclear:  "the referee or this build",
}

// timesRealTime returns how much faster than the match a simulation was.
func timesRealTime(v *replay.Verification, took time.Duration) float64 {
	return float64(v.Ticks) / float64(v.Header.Settings.TickRate) / max(took.Seconds(), 1e-9)
}

func speed(v *replay.Verification, took time.Duration) string {
	return fmt.Sprintf("%.0fx real time", timesRealTime(v, took))
}

// json returns the value that verify --json prints.
func (v *verified) json(signed *bool, err error, took time.Duration) any {
	return struct {
		*replay.Verification
		Blames        []desync.Blame  `json:"blames"`
		Class         replay.Class    `json:"class"`
		Signed        *bool           `json:"signed,omitempty"` // with the key that was asked for; nil for no key
		First         *differenceJSON `json:"first"`            // replaces the one of Verification
		Game          string          `json:"game"`
		Match         string          `json:"match"`
		Seconds       float64         `json:"seconds"`
		TimesRealTime float64         `json:"times_real_time"`
		Error         string          `json:"error,omitempty"`
	}{
		Verification: v.Verification, Blames: v.verdict.Blames, Class: fileClass(err), Signed: signed, First: newDifferenceJSON(v.First), Game: v.Header.Game, Match: v.Header.Match.String(),
		Seconds: took.Seconds(), TimesRealTime: timesRealTime(v.Verification, took), Error: errorText(err),
	}
}

// A differenceJSON is a checksum that differs, in the form of all checksums.
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
