package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// demoChecks is what both demos compare with what they did themselves.
type demoChecks struct {
	Failures  []string        `json:"failures"`
	Planted   plantedError    `json:"planted"`
	Explained explainedBundle `json:"explained"`
	Verify    verifiedDemo    `json:"verify"`
}

type (
	// A plantedError is a field that the demo has changed in one player's copy. The copy differs from tick Tick on.
	plantedError struct {
		Player lockstep.Player `json:"player"`
		Tick   lockstep.Tick   `json:"tick"`
		Path   string          `json:"path"`
		Want   string          `json:"want"`
		Got    string          `json:"got"`
		unit   skirmish.UnitID
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

// failure returns the first failure, or nil.
func (d *demoChecks) failure() error {
	if len(d.Failures) == 0 {
		return nil
	}
	return fmt.Errorf("the demo failed: %s", d.Failures[0])
}

// explain explains the bundle, writes the page next to it, and compares the verdict with what was planted.
func (d *demoChecks) explain() error {
	x := &d.Explained
	e, err := explainFile(x.Bundle, desync.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", x.Bundle, err)
	}
	x.text, x.First, x.Verdict = e, e.First, e.Verdict.Text
	if e.Cause != nil {
		x.Cause = e.Cause.Text
	}
	v := &e.Verdict
	d.expect(v.Party == desync.WrongPlayer && v.Simulated && slices.Equal(v.Players, []lockstep.Player{d.Planted.Player}), "the bundle blames %q", x.Verdict)
	d.expect(e.First.From <= d.Planted.Tick && d.Planted.Tick <= e.First.To, "the first divergent tick of the bundle is %d to %d", e.First.From, e.First.To)
	x.Page = strings.TrimSuffix(x.Bundle, ".zip") + ".html"
	return files.Replace(x.Page, func(out *os.File) error { return e.WriteHTML(out) })
}

// verify reads the replay back and simulates it again. The replay should have so many ticks.
func (d *demoChecks) verify(path string, ticks lockstep.Tick) (*replay.Info, error) {
	info, v, err := verifyFile(path)
	if v == nil {
		return nil, err
	}
	d.Verify = *v
	d.expect(err == nil && v.Ticks == ticks && v.Checked > 0, "%d of %d ticks of the replay were verified: %v", v.Ticks, ticks, err)
	return info, nil
}

// verifyFile simulates a replay again. The error is that of the verification, or, without a result, of the file.
func verifyFile(path string) (*replay.Info, *verifiedDemo, error) {
	f, err := openReplay(files.Open, path)
	if err != nil {
		return nil, nil, err
	}
	defer f.close()
	info, err := f.info()
	if err != nil {
		return nil, nil, err
	}
	game, err := gameOf(info.Header)
	if err != nil {
		return nil, nil, err
	}
	r, err := f.reader()
	if err != nil {
		return nil, nil, err
	}
	from := time.Now()
	v, err := replay.Verify(r, game, replay.VerifyOptions{})
	took := time.Since(from)
	return info, &verifiedDemo{v.Ticks, v.Checked, v.Differed, took.Seconds(), timesRealTime(v, took)}, err
}

// printEnd prints the results that both demos have.
func (d *demoChecks) printEnd(line liner, path string) {
	line("verify", "%s simulated again in %.2f s, %.0fx real time: %s, %d differ", count(d.Verify.Ticks, "tick"),
		d.Verify.Seconds, d.Verify.TimesRealTime, count(d.Verify.Checked, "checksum"), d.Verify.Differed)
	if x := &d.Explained; x.text != nil {
		line("bundle", "%s", x.Bundle)
		line("page", "%s", x.Page)
		line("explained", "by samestep desync explain:")
		shown := false
		for _, text := range x.text.Lines() {
			if name, _, _ := strings.Cut(text, " "); name != "" { // other lines continue one with a name
				shown = slices.Contains([]string{"verdict", "first", "cause", "fields", "changed"}, name)
			}
			if shown {
				line("", "  %s", text)
			}
		}
	}
	for _, text := range d.Failures {
		line("FAILED", "%s", text)
	}
	if len(d.Failures) == 0 {
		line("ok", "everything worked; try: samestep replay info %s", path)
	}
}

func stateHash(f *lockstep.Follower) string { return checksum.FormatHash(f.Simulation().Hash()) }
