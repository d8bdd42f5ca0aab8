package locksteptest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// RunPhase is Run with one phase after the match was played.
func RunPhase(g *lockstep.Game, o Options, phase string) error {
	o.Skip = append(o.Skip, allBut(phase)...)
	_, err := Run(g, o)
	return err
}

// Permuted is an order of the phase each.
func Permuted(k, n int) int { return permuted(k, n) }

// PhaseNames returns the names of the phases that can be left out, in order.
func PhaseNames() []string { return allBut("") }

// Report is report.
var Report = report

// A Counted is the receipt of a command at a tick.
type Counted struct {
	Tick   lockstep.Tick
	Reason lockstep.Reason
	Wait   lockstep.Tick
}

// CheckCounts gives the receipts of commands of one player and kind to the count of the kit.
func CheckCounts(g *lockstep.Game, kind lockstep.Kind, all []Counted) error {
	l := newLimits(g, lockstep.DefaultSettings(1))
	for i, c := range all {
		o := order{tick: c.Tick, sequence: lockstep.Sequence(i + 1), kind: kind}
		o.receipt = lockstep.Receipt{Sequence: o.sequence, Reason: c.Reason, Wait: c.Wait}
		if c.Reason == lockstep.Accepted {
			o.receipt.Tick = c.Tick - 1 + delayTicks
		}
		if err := l.check(&o); err != nil {
			return err
		}
	}
	return nil
}

// Trace does what a check does in a program with probes after f, and returns false for a failure that is not one of a step.
func Trace(g *lockstep.Game, o Options, f *Failure, dir string) (*program.Result, bool) {
	j := &program.CheckJob{Folder: dir, Phase: f.Phase, From: uint32(f.From), Tick: uint32(f.Tick)}
	return traceCheck(j, g, o), f.inStep()
}

// Line returns the line of a failure.
func Line(t testing.TB, f *Failure) string { return f.line(t, program.TestJob{}) }

// AddGoldenOf is AddGolden on another platform.
func AddGoldenOf(platform string, g *lockstep.Game, o GoldenOptions) error {
	m, err := playGolden(g, o)
	if err != nil {
		return err
	}
	m.header.Platform = platform
	var file bytes.Buffer
	if err := m.write(&file, "a golden match"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.dir(), "other.ssr"), file.Bytes(), 0o644)
}

// RunView is [CheckView] without a test.
func RunView[S any](g *lockstep.Game, o Options, s Secrecy[S]) error {
	_, err := checkView(g, o, s)
	return err
}
