package tool

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayInfoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "describe the match and the content of a replay",
		ArgsUsage: "FILE",
		Description: `Reads the whole file without a simulation, so it works without the game's code. A
damaged file is read up to the damage. Each keyframe's state is compared with the
keyframe's own checksum. Only verify compares states with the simulation.

--upto also prints the content hash up to a tick. It is the same for two recordings of
one match, even if one of them is longer or ends for another reason.`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.UintFlag{Name: "upto", Usage: "also hash the content up to tick `N`", DefaultText: "only the whole match"},
		},
		Action: onReplay(replayInfo),
	}
}

func replayInfo(c *cli.Context, f *replayFile) error {
	r, done, err := f.watch(c)
	if err != nil {
		return refuse(c, err, nil)
	}
	frugal()
	info, err := replay.ReadInfo(r)
	done()
	if info.Header == nil {
		return refuse(c, err, nil)
	}
	var upto *partHash
	if c.IsSet("upto") {
		var perr error
		if upto, perr = hashPart(f, info, tickOf(c, "upto")); perr != nil {
			return perr
		}
	}
	return tell(c, infoJSON(info, upto, err), func(w io.Writer) { printInfo(w, info, upto) }, err)
}

// A partHash is the content hash up to a tick.
type partHash struct {
	Tick        lockstep.Tick      `json:"tick"`
	ContentHash replay.ContentHash `json:"content_hash"`
}

func hashPart(f *replayFile, info *replay.Info, tick lockstep.Tick) (*partHash, error) {
	if len(info.Keyframes) == 0 || tick < info.Keyframes[0].Tick || tick > info.Ticks {
		return nil, usagef("--upto: got tick %d, want a tick in the readable part of the file, at most %d", tick, info.Ticks)
	}
	r, err := f.reader()
	if err != nil {
		return nil, err
	}
	h, _, err := replay.HashContent(r, tick)
	return &partHash{tick, h}, err
}

// printInfo prints a description of a replay. upto may be nil.
func printInfo(w io.Writer, info *replay.Info, upto *partHash) {
	h := info.Header
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	line("game", "%q, build %q", h.Game, h.Build)
	line("match", "%s, recorded on %q", h.Match, h.Platform)
	line("settings", "%s", settingsText(h))
	line("length", "%s, %s", count(info.Ticks, "tick"), matchTime(float64(h.Settings.Micros(int64(info.Ticks)))/1e6))
	line("commands", "%s in %s", count(info.Commands, "command"), count(info.Frames, "frame"))
	for _, p := range info.Players {
		who := fmt.Sprintf("  player %d", p.Player)
		if p.Player == lockstep.System {
			who = "  system"
		} else if name := info.Names[p.Player]; name != "" {
			who += fmt.Sprintf(" %q", name)
		}
		line(who, "%s, %s of payload", count(p.Commands, "command"), size(p.Bytes))
	}
	line("checksums", "%d agreed, %d mismatching ones of players", info.Checksums, info.Mismatches)
	line("keyframes", "%d, %s", len(info.Keyframes), size(info.StateBytes))
	if info.Segments > 0 {
		line("size", "%s in %s of %s", size(info.SizeBytes), count(info.Segments, "segment"), size(info.RecordBytes))
	} else {
		line("size", "%s, %.2f bytes per tick without keyframes", size(info.SizeBytes), bytesPerTick(info))
	}
	line("content", "%s", info.ContentHash)
	if upto != nil {
		line("", "%s up to tick %d", upto.ContentHash, upto.Tick)
	}
	for _, g := range info.Signatures {
		switch {
		case g.Signer == "":
			line("signature", "of unknown kind %d: not checked", g.Kind)
		case g.Signed:
			line("signature", "by the key %s", g.Signer)
		default:
			line("signature", "FALSE: the key %s has signed other content", g.Signer)
		}
	}
	switch {
	case len(info.Result) > 0:
		line("end", "%q", info.Reason)
		line("result", "%s", info.Result)
	case info.Ended:
		line("end", "%q", info.Reason)
	default:
		line("end", "none: the file is cut, damaged or still being written")
	}
	t.Flush()
}

// settingsText describes the settings in a header. An imported match has no seed and no interval of keyframes.
func settingsText(h *lockstep.Header) string {
	s := &h.Settings
	seats, rate := count(int(s.Players), "seat"), fmt.Sprintf("%d ticks/s", s.TickRate)
	if s.TickMS > 0 {
		rate = fmt.Sprintf("%d ms a tick", s.TickMS)
	}
	if h.Engine == foreignEngine {
		return fmt.Sprintf("%s, %s; imported, so the seed is unknown", seats, rate)
	}
	keyframes := "one keyframe"
	if s.KeyframeEvery > 0 {
		keyframes = "a keyframe every " + count(s.KeyframeEvery, "tick")
	}
	return fmt.Sprintf("seed %d, %s, %s, a checksum every %s, %s", s.Seed, seats, rate, count(int(s.CheckEvery), "tick"), keyframes)
}

// bytesPerTick returns the cost of a tick: the bytes of the uncompressed file without the states of keyframes.
func bytesPerTick(info *replay.Info) float64 {
	whole := info.SizeBytes
	if info.Segments > 0 {
		whole = info.RecordBytes
	}
	return float64(whole-info.StateBytes) / float64(max(info.Ticks, 1))
}

func infoJSON(info *replay.Info, upto *partHash, err error) any {
	h := info.Header
	return struct {
		Game     string            `json:"game"`
		Build    string            `json:"build"`
		Match    string            `json:"match"`
		Engine   string            `json:"engine"`
		Platform string            `json:"platform"`
		Settings lockstep.Settings `json:"settings"`
		*replay.Info
		UpTo         *partHash    `json:"upto,omitempty"`
		BytesPerTick float64      `json:"bytes_per_tick"`
		Class        replay.Class `json:"class"`
		Error        string       `json:"error,omitempty"`
	}{
		Game: h.Game, Build: h.Build, Match: h.Match.String(), Engine: h.Engine, Platform: h.Platform,
		Settings: h.Settings, Info: info, UpTo: upto, BytesPerTick: bytesPerTick(info), Class: fileClass(err), Error: errorText(err),
	}
}

// errorText returns the text of err, or nothing for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
