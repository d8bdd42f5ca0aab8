//go:build !js

package live

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/desyncs"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A demoStory is the result of a demo, as --json prints it.
type demoStory struct {
	demoChecks
	Match struct {
		Players       uint          `json:"players"`
		Game          string        `json:"game"`
		Units         uint          `json:"units,omitempty"` // if the game can be told how many
		Seed          uint64        `json:"seed,string"`
		Ticks         lockstep.Tick `json:"ticks"`
		Commands      int           `json:"commands"`
		Rejected      int           `json:"rejected"`
		Seconds       float64       `json:"seconds"`
		TimesRealTime float64       `json:"times_real_time"`
		Checksum      string        `json:"checksum"`
	} `json:"match"`
	LateJoin struct {
		Tick     lockstep.Tick `json:"tick"`
		Keyframe lockstep.Tick `json:"keyframe"`
		Checksum string        `json:"checksum"`
	} `json:"late_join"`
	Replay struct {
		Path            string  `json:"path"`
		SizeBytes       int64   `json:"size_bytes,string"`
		Keyframes       int     `json:"keyframes"`
		StateBytes      int64   `json:"state_bytes,string"`
		BytesPerTick    float64 `json:"bytes_per_tick"`
		BytesPerCommand float64 `json:"bytes_per_command"`
	} `json:"replay"`
	Desync struct {
		Report  string          `json:"report"`
		Tick    lockstep.Tick   `json:"tick"` // of the check that found it
		Player  lockstep.Player `json:"player"`
		First   lockstep.Tick   `json:"first_divergent_tick"`
		Section string          `json:"section"`
		Path    string          `json:"path"`
		Want    string          `json:"want"`
		Got     string          `json:"got"`
		Fields  int             `json:"fields"` // that differ at the first divergent tick
	} `json:"desync"`
}

// readReplay verifies the replay.
func (s *demoStory) readReplay(path string) error {
	info, err := s.verify(path, s.Match.Ticks)
	if err != nil {
		return err
	}
	x := &s.Replay
	x.Path, x.SizeBytes, x.StateBytes, x.Keyframes, x.BytesPerTick = path, info.SizeBytes, info.StateBytes, len(info.Keyframes), info.BytesPerTick()
	x.BytesPerCommand = float64(info.SizeBytes-info.StateBytes) / float64(max(info.Commands, 1))
	return nil
}

// Explain explains the bundle, which here has the states of every tick.
func (s *demoStory) Explain() error {
	if err := s.demoChecks.explain(); err != nil {
		return err
	}
	e, p := s.Explained.text, &s.Planted
	s.expect(e.First == (desync.Span{From: p.Tick, To: p.Tick}), "the first divergent tick of the bundle is %d to %d", e.First.From, e.First.To)
	s.expect(len(e.Fields.List) > 0 && e.Fields.List[0].Path == p.Path && e.Fields.List[0].A == p.Want && e.Fields.List[0].B == p.Got,
		"the fields that differ in the bundle are %v", e.Fields)
	return nil
}

func (s *demoStory) print(w io.Writer) {
	line := console.NewWrappingLiner(w)
	line("match", "%s, %s with %s (%d rejected), played in %.2f s, %.0fx real time", s.size(),
		console.Count(s.Match.Ticks, "tick"), console.Count(s.Match.Commands, "command"), s.Match.Rejected, s.Match.Seconds, s.Match.TimesRealTime)
	line("", "checksum %s at the end", s.Match.Checksum)
	equal := "equal"
	if s.LateJoin.Checksum != s.Match.Checksum {
		equal = "not equal"
	}
	line("late join", "at tick %d from keyframe %d and %s of tail: checksum %s at the end, %s", s.LateJoin.Tick, s.LateJoin.Keyframe,
		console.Count(s.LateJoin.Tick-s.LateJoin.Keyframe, "tick"), s.LateJoin.Checksum, equal)
	console.NewLiner(w)("replay", "%s", s.Replay.Path)
	line("", "%s, %s of it in %s; the rest is %.1f bytes per tick, %.1f per command", console.Size(s.Replay.SizeBytes),
		console.Size(s.Replay.StateBytes), console.Count(s.Replay.Keyframes, "keyframe"), s.Replay.BytesPerTick, s.Replay.BytesPerCommand)
	line("planted", "in the copy of player %d, from tick %d on: %s is %s instead of %s", s.Planted.Player, s.Planted.Tick, s.Planted.Path, s.Planted.Got, s.Planted.Want)
	line("desync", "%s", cmp.Or(s.Desync.Report, "not detected"))
	if s.Desync.First > 0 {
		line("", "first divergent tick %d: %s is %s, must be %s (%s in all)", s.Desync.First, s.Desync.Path, s.Desync.Got, s.Desync.Want, console.Count(s.Desync.Fields, "field"))
	}
	s.printEnd(w, s.Replay.Path)
}

// size tells how many play.
func (s *demoStory) size() string {
	if s.Match.Units == 0 {
		return console.Count(int(s.Match.Players), "bot")
	}
	return fmt.Sprintf("%d bots, %d units", s.Match.Players, s.Match.Units)
}

// demoChecks is what both demos compare with what they did themselves.
type demoChecks struct {
	Failures  []string        `json:"failures"`
	Planted   plantedError    `json:"planted"`
	Explained explainedBundle `json:"explained"`
	Verify    verifiedDemo    `json:"verify"`

	parted  bool // a copy that nothing was planted in has another state
	unfixed bool // a simulation shows that the rules have no fixed result
	games   replay.Games
	apart   func(job []byte) ([]byte, error)
	program string // the name of this one
}

type (
	// A plantedError is a field that the demo has changed in one player's copy. The copy differs from tick Tick on.
	plantedError struct {
		Player lockstep.Player `json:"player"`
		Tick   lockstep.Tick   `json:"tick"`
		Path   string          `json:"path"`
		Want   string          `json:"want"`
		Got    string          `json:"got"`
	}
	// An explainedBundle is the explanation of the desync that the demo has planted.
	explainedBundle struct {
		Bundle  string      `json:"bundle"`
		Page    string      `json:"page"`
		Verdict string      `json:"verdict"`
		First   desync.Span `json:"first_divergent_tick"`
		Cause   string      `json:"cause"`
		text    *desync.Explanation
	}
	verifiedDemo struct {
		Ticks         lockstep.Tick `json:"ticks"`
		Checked       int           `json:"checked"`
		Differed      int           `json:"differed"`
		Seconds       float64       `json:"seconds"`
		TimesRealTime float64       `json:"times_real_time"`
	}
)

// expect notes a failure unless ok.
func (d *demoChecks) expect(ok bool, format string, args ...any) {
	if !ok {
		d.Failures = append(d.Failures, fmt.Sprintf(format, args...))
	}
}

// Failure returns the first failure, or nil.
func (d *demoChecks) Failure() error {
	if len(d.Failures) == 0 {
		return nil
	}
	text := "demo failed: " + d.Failures[0]
	switch {
	case d.unfixed:
		return fmt.Errorf("demo failed: %w; try: %s fuzz, and %s vet", desync.ErrUnfixed, d.program, d.program)
	case d.parted:
		return &console.ClassError{Class: replay.ClassDesync, Text: text}
	}
	return errors.New(text)
}

// explain explains the bundle, writes the page next to it, and compares the verdict with what was planted.
func (d *demoChecks) explain() error {
	x := &d.Explained
	e, err := desyncs.ExplainFile(d.program, x.Bundle, d.games, desync.Options{Apart: d.apart})
	if err != nil {
		return fmt.Errorf("%s: %w", x.Bundle, err)
	}
	x.text, x.First, x.Verdict = e, e.First, e.Verdict.Text
	if e.Cause != nil {
		x.Cause = e.Cause.Text
	}
	v := &e.Verdict
	if d.unfixed = d.unfixed || v.Party == desync.NoFixedResult; d.unfixed {
		d.expect(false, "the bundle does not tell the planted error from what the rules do")
	} else {
		d.expect(v.Party == desync.WrongPlayer && v.Simulated && slices.Equal(v.Players, []lockstep.Player{d.Planted.Player}), "the bundle blames %q", x.Verdict)
	}
	d.expect(e.First.From <= d.Planted.Tick && d.Planted.Tick <= e.First.To, "the first divergent tick of the bundle is %d to %d", e.First.From, e.First.To)
	x.Page = strings.TrimSuffix(x.Bundle, ".zip") + ".html"
	return files.Replace(x.Page, func(out *os.File) error { return e.WriteHTML(out) })
}

// verify reads the replay back and simulates it again. The replay should have the given number of ticks.
func (d *demoChecks) verify(path string, ticks lockstep.Tick) (*replay.Info, error) {
	info, v, err := verifyFile(d.games, path)
	if v == nil {
		return nil, err
	}
	d.Verify, d.unfixed = *v, d.unfixed || errors.Is(err, desync.ErrUnfixed)
	d.expect(err == nil && v.Ticks == ticks && v.Checked > 0, "%d of %d ticks of the replay were verified: %v", v.Ticks, ticks, err)
	return info, nil
}

// verifyFile simulates a replay again. The error is that of the verification, or, without a result, of the file.
func verifyFile(games replay.Games, path string) (*replay.Info, *verifiedDemo, error) {
	f, err := replay.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil {
		return nil, nil, err
	}
	from := time.Now()
	v, err := desync.Verify(f, games, replay.VerifyOptions{})
	if v.Verification == nil {
		return nil, nil, err
	}
	v.Took = time.Since(from)
	return info, &verifiedDemo{v.Ticks, v.Checked, v.Differed, v.Took.Seconds(), v.TimesRealTime()}, err
}

// printEnd prints the results that both demos have.
func (d *demoChecks) printEnd(w io.Writer, path string) {
	line, whole := console.NewWrappingLiner(w), console.NewLiner(w)
	line("verify", "%s simulated again in %.2f s, %.0fx real time: %s, %d differ", console.Count(d.Verify.Ticks, "tick"),
		d.Verify.Seconds, d.Verify.TimesRealTime, console.Count(d.Verify.Checked, "checksum"), d.Verify.Differed)
	if x := &d.Explained; x.text != nil {
		whole("bundle", "%s", x.Bundle)
		whole("page", "%s", x.Page)
		line("explained", "by %s desync explain:", d.program)
		var report strings.Builder
		x.text.WriteText(&report) // to memory
		shown := false
		for text := range strings.SplitSeq(report.String(), "\n") {
			if name, _, _ := strings.Cut(text, " "); name != "" { // other lines continue one with a name
				shown = slices.Contains([]string{"answer", "verdict", "again", "first", "cause", "fields", "changed"}, name)
			}
			if shown {
				fmt.Fprintln(w, text)
			}
		}
	}
	for _, text := range d.Failures {
		line("FAILED", "%s", text)
	}
	if len(d.Failures) == 0 {
		whole("ok", "everything worked; try: %s replay info %s", d.program, path)
	}
}

func stateHash(f *lockstep.Follower) string { return checksum.FormatHash(f.Simulation().Hash()) }

// mostDemoPlayers is the largest number of bots of a demo.
const mostDemoPlayers = 16

// demoOptions are the flags of demo.
type demoOptions struct {
	Program        string // the name of this one
	Game           *gameset.Playable
	override       []byte // of the configuration
	Players, units uint
	Length         lockstep.Tick // of the match
	Tick           uint32        // microseconds of one
	Seed           uint64
	Dir            string
}

// makeDir makes the folder of the options, or a new one: in one with a fixed name, others could plant links to the user's files.
func (o *demoOptions) makeDir() (err error) {
	if o.Dir != "" {
		return os.MkdirAll(o.Dir, 0o700)
	}
	o.Dir, err = os.MkdirTemp("", "samestep-demo-*")
	return err
}

// configure returns the configuration of a match with some seats.
func (o *demoOptions) configure(seats uint) (any, error) {
	return o.Game.Configure(uint8(seats), uint16(o.units), o.override)
}

// checkEvery returns the number of ticks from one checksum to the next, of which one comes after the planted desync.
func (o *demoOptions) checkEvery() uint16 {
	return uint16(max(1, min(20, o.Length/2)))
}

// timeOf returns how long ticks take.
func (o *demoOptions) timeOf(n lockstep.Tick) time.Duration {
	return time.Duration(n) * time.Duration(o.Tick) * time.Microsecond
}

// ticksIn returns the ticks in a time.
func (o *demoOptions) ticksIn(seconds uint) lockstep.Tick {
	return lockstep.Tick(uint64(seconds) * 1_000_000 / uint64(o.Tick))
}

// matchTime is how long the match takes at its tick rate.
func (o *demoOptions) matchTime() time.Duration { return o.timeOf(o.Length) }
