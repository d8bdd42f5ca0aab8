package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A demoStory is what happened in a demo, as --json prints it.
type demoStory struct {
	failures
	Match    matchStory   `json:"match"`
	LateJoin lateStory    `json:"late_join"`
	Replay   replayStory  `json:"replay"`
	Verify   verifyStory  `json:"verify"`
	Planted  plantedStory `json:"planted"`
	Desync   desyncStory  `json:"desync"`

	Explained explainedStory `json:"explained"`
}

// failures are what did not come true.
type failures struct {
	Failures []string `json:"failures"`
}

// expect notes a failure unless ok.
func (f *failures) expect(ok bool, format string, args ...any) {
	if !ok {
		f.Failures = append(f.Failures, fmt.Sprintf(format, args...))
	}
}

// err returns the first failure, or nil.
func (f *failures) err() error {
	if len(f.Failures) == 0 {
		return nil
	}
	return fmt.Errorf("the demo failed: %s", f.Failures[0])
}

type (
	matchStory struct {
		Players       uint          `json:"players"`
		Units         uint          `json:"units"`
		Seed          uint64        `json:"seed,string"`
		Ticks         lockstep.Tick `json:"ticks"`
		Commands      int           `json:"commands"`
		Rejected      int           `json:"rejected"`
		Seconds       float64       `json:"seconds"`
		TimesRealTime float64       `json:"times_real_time"`
		Checksum      string        `json:"checksum"`
	}
	lateStory struct {
		Tick     lockstep.Tick `json:"tick"`
		Keyframe lockstep.Tick `json:"keyframe"`
		Checksum string        `json:"checksum"`
	}
	replayStory struct {
		Path            string  `json:"path"`
		SizeBytes       int64   `json:"size_bytes,string"`
		Keyframes       int     `json:"keyframes"`
		StateBytes      int64   `json:"state_bytes,string"`
		BytesPerTick    float64 `json:"bytes_per_tick"`
		BytesPerCommand float64 `json:"bytes_per_command"`
	}
	verifyStory struct {
		Ticks         lockstep.Tick `json:"ticks"`
		Checked       int           `json:"checked"`
		Differed      int           `json:"differed"`
		Seconds       float64       `json:"seconds"`
		TimesRealTime float64       `json:"times_real_time"`
	}
	// A plantedStory is a field that the demo changed in one player's copy, so
	// that it differs from tick Tick on.
	plantedStory struct {
		Player lockstep.Player `json:"player"`
		Tick   lockstep.Tick   `json:"tick"`
		Path   string          `json:"path"`
		Want   string          `json:"want"`
		Got    string          `json:"got"`
		unit   skirmish.UnitID
	}
	desyncStory struct {
		Report  string          `json:"report"`
		Tick    lockstep.Tick   `json:"tick"` // of the check that found it
		Player  lockstep.Player `json:"player"`
		First   lockstep.Tick   `json:"first_divergent_tick"`
		Section string          `json:"section"`
		Path    string          `json:"path"`
		Want    string          `json:"want"`
		Got     string          `json:"got"`
		Fields  int             `json:"fields"` // that differ at the first divergent tick
	}
)

// story tells what happened in the match, and checks it against what was
// planted.
func (m *demoMatch) story(took time.Duration) *demoStory {
	referee := m.coordinator.Referee()
	ticks := referee.Tick()
	s := &demoStory{
		Match: matchStory{
			Players: m.options.players, Units: m.options.units, Seed: m.options.seed, Ticks: ticks,
			Commands: m.commands, Rejected: m.rejected, Seconds: took.Seconds(),
			TimesRealTime: float64(m.options.seconds) / took.Seconds(), Checksum: stateHash(referee),
		},
		LateJoin: lateStory{Tick: m.joined, Checksum: stateHash(m.late)},
		Planted:  m.planted,
	}
	s.Failures = []string{}
	if every := lockstep.Tick(referee.Header().Settings.KeyframeEvery); every > 0 {
		s.LateJoin.Keyframe = m.joined / every * every
	}
	s.expect(m.late.Tick() == ticks && s.LateJoin.Checksum == s.Match.Checksum, "the late joiner has another state")
	for _, p := range m.players {
		if p.seat != m.planted.Player {
			s.expect(stateHash(p.follower) == s.Match.Checksum, "player %d has another state", p.seat)
		}
	}
	m.explain(s)
	return s
}

// explain fills in what the engine found out about the desync.
func (m *demoMatch) explain(s *demoStory) {
	if m.report == nil {
		s.expect(false, "nobody noticed the planted desync")
		return
	}
	s.Desync = desyncStory{Report: m.report.String(), Tick: m.report.Tick, Player: m.report.Player}
	s.expect(m.report.Player == m.planted.Player, "player %d was blamed", m.report.Player)
	if m.divergence == nil || len(m.divergence.Fields.List) == 0 {
		s.expect(false, "no field was found that differs")
		return
	}
	d, field := m.divergence, m.divergence.Fields.List[0]
	s.Desync.First, s.Desync.Section, s.Desync.Fields = d.Tick, d.Section, d.Fields.Total
	s.Desync.Path, s.Desync.Want, s.Desync.Got = field.Path, field.A, field.B
	s.expect(d.Tick == m.planted.Tick, "the first divergent tick is said to be %d", d.Tick)
	s.expect(field.Path == m.planted.Path && field.A == m.planted.Want && field.B == m.planted.Got,
		"the field is said to be %s, %s instead of %s", field.Path, field.B, field.A)
}

func stateHash(f *lockstep.Follower) string { return checksum.FormatHash(f.Simulation().Hash()) }

// equal says whether the late joiner has the state of the others.
func (s *demoStory) equal() string {
	if s.LateJoin.Checksum != s.Match.Checksum {
		return ", not equal"
	}
	return ", equal"
}

// print tells the story in lines.
func (s *demoStory) print(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("match", "%d bots, %d units, %s with %s (%d rejected), played in %.2f s, %.0fx real time", s.Match.Players, s.Match.Units,
		count(s.Match.Ticks, "tick"), count(s.Match.Commands, "command"), s.Match.Rejected, s.Match.Seconds, s.Match.TimesRealTime)
	line("", "checksum %s at the end", s.Match.Checksum)
	line("late join", "at tick %d from keyframe %d and %s of tail: checksum %s at the end%s", s.LateJoin.Tick, s.LateJoin.Keyframe,
		count(s.LateJoin.Tick-s.LateJoin.Keyframe, "tick"), s.LateJoin.Checksum, s.equal())
	line("replay", "%s", s.Replay.Path)
	line("", "%s, %s of it in %s; the rest is %.1f bytes per tick, %.1f per command", size(s.Replay.SizeBytes),
		size(s.Replay.StateBytes), count(s.Replay.Keyframes, "keyframe"), s.Replay.BytesPerTick, s.Replay.BytesPerCommand)
	line("verify", "%s simulated again in %.2f s, %.0fx real time: %s, %d differ", count(s.Verify.Ticks, "tick"),
		s.Verify.Seconds, s.Verify.TimesRealTime, count(s.Verify.Checked, "checksum"), s.Verify.Differed)
	line("planted", "in the copy of player %d, from tick %d on: %s is %s instead of %s", s.Planted.Player, s.Planted.Tick, s.Planted.Path, s.Planted.Got, s.Planted.Want)
	line("desync", "%s", s.Desync.Report)
	line("", "first divergent tick %d: %s is %s, must be %s (%s in all)", s.Desync.First, s.Desync.Path, s.Desync.Got, s.Desync.Want, count(s.Desync.Fields, "field"))
	s.Explained.print(line)
	s.printEnd(line, s.Replay.Path)
	_, err := io.WriteString(w, b.String())
	return err
}

// printEnd tells what did not come true, or that all did.
func (f *failures) printEnd(line func(name, format string, args ...any), replay string) {
	for _, text := range f.Failures {
		line("FAILED", "%s", text)
	}
	if len(f.Failures) == 0 {
		line("ok", "all of it came true; try: samestep replay info %s", replay)
	}
}
