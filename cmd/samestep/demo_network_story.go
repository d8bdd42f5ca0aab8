package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A networkStory is what happened in a network demo, as --json prints it.
type networkStory struct {
	failures
	Match struct {
		Ticks     lockstep.Tick `json:"ticks"`
		Players   uint          `json:"players"`
		Commands  uint64        `json:"commands,string"`
		BytesOut  uint64        `json:"bytes_out,string"`
		Keyframes uint64        `json:"keyframes_made,string"`
		Checksum  string        `json:"checksum"`
	} `json:"match"`
	Late struct {
		Tick   lockstep.Tick `json:"tick"`
		LiveMS float64       `json:"live_after_ms"`
		Equal  bool          `json:"equal"`
		since  time.Time
	} `json:"late_join"`
	Cut struct {
		Tick   lockstep.Tick `json:"tick"`
		BackMS float64       `json:"back_after_ms"`
		Tail   bool          `json:"tail_only"`
	} `json:"cut"`
	Slow struct {
		HeldMS int64 `json:"held_ms,string"`
		Synced int   `json:"synced"`
		Equal  bool  `json:"equal"`
	} `json:"slow_spectator"`
	Planted plantedStory `json:"planted"`
	Desync  struct {
		Tick   lockstep.Tick `json:"tick"`
		Healed lockstep.Tick `json:"healed_at"`
		Path   string        `json:"path"`
		Want   string        `json:"want"`
		Got    string        `json:"got"`
	} `json:"desync"`
	Replay    string         `json:"replay"`
	Explained explainedStory `json:"explained"`
	Verify    verifyStory    `json:"verify"`

	trueHash uint64
}

// conclude compares what happened with what should have.
func (d *networkDemo) conclude() error {
	s := &d.story
	s.Failures = append([]string{}, s.Failures...)
	s.Match.Players = d.options.players
	for _, g := range d.guests {
		s.expect(g.tick == s.Match.Ticks && g.hash == s.trueHash, "%s ended at tick %d with another state", g.name, g.tick)
		if g.name != d.guests[d.options.players-1].name {
			s.expect(g.count("Desynced") == 0, "%s was said to differ", g.name)
		}
	}
	d.concludeLinks()
	if err := d.concludeDesync(d.guests[d.options.players-1]); err != nil {
		s.expect(false, "%v", err)
	}
	return d.verify()
}

// concludeLinks looks at the late joiner, the cut player and the slow spectator.
func (d *networkDemo) concludeLinks() {
	s, first := &d.story, d.guests[0]
	s.Cut.Tail = first.count("StreamResumed") > 0
	s.expect(s.Cut.Tail, "the cut player did not resume")
	s.Cut.BackMS = milliseconds(first.back.Sub(first.lost))
	slow, late := d.guests[d.options.players], d.guests[d.options.players+1]
	s.Slow.HeldMS = d.holdTime().Milliseconds()
	s.Slow.Synced, s.Slow.Equal = slow.count("Synced"), slow.hash == s.trueHash
	s.expect(s.Slow.Synced > 1, "the slow spectator was not given a keyframe in place of what it missed")
	s.Late.LiveMS, s.Late.Equal = milliseconds(late.sync.Sub(s.Late.since)), late.hash == s.trueHash
	s.expect(!late.sync.IsZero(), "the late joiner never caught up")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// concludeDesync reads the bundle that the server wrote.
func (d *networkDemo) concludeDesync(g *netGuest) error {
	s := &d.story
	s.Desync.Healed = g.healed
	s.expect(g.count("Desynced") == 1 && g.count("Healed") == 1, "the corrupted player saw %d desyncs and healed %d times", g.count("Desynced"), g.count("Healed"))
	paths, err := d.bundles()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return errNoBundle
	}
	x := &s.Explained
	x.Bundle = paths[0]
	if err := x.explain(); err != nil {
		return err
	}
	e := x.text
	s.Desync.Tick = e.Tick
	s.expect(x.blames(s.Planted.Player), "the bundle is said to show %q", x.Verdict)
	s.expect(e.First.From <= s.Planted.Tick && s.Planted.Tick <= e.First.To, "the bundle is said to diverge in ticks %d to %d", e.First.From, e.First.To)
	if len(e.Fields.List) == 0 {
		return fmt.Errorf("%s: the states in it do not differ", paths[0])
	}
	s.Desync.Path, s.Desync.Want, s.Desync.Got = e.Fields.List[0].Path, e.Fields.List[0].A, e.Fields.List[0].B
	s.expect(strings.HasPrefix(s.Desync.Path, "Rand."), "the first field that differs is said to be %s", s.Desync.Path)
	return nil
}

// verify simulates the replay that the server wrote.
func (d *networkDemo) verify() error {
	s := &d.story
	s.Replay = d.match.ReplayPath()
	_, v, err := verifyFile(s.Replay)
	if v == nil {
		return err
	}
	s.Verify = *v
	s.expect(err == nil && v.Ticks == s.Match.Ticks, "the replay verified %d of %d ticks: %v", v.Ticks, s.Match.Ticks, err)
	return nil
}

// print tells the story in lines.
func (s *networkStory) print(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("match", "%d bots over links with %v: %s with %s, %s sent", s.Match.Players, playerLink, count(s.Match.Ticks, "tick"), count(int64(s.Match.Commands), "command"), size(int64(s.Match.BytesOut)))
	line("", "checksum %s at the end, of everybody", s.Match.Checksum)
	line("late join", "at tick %d: live after %.0f ms", s.Late.Tick, s.Late.LiveMS)
	line("cut", "player 0 at tick %d: back after %.0f ms, by the tail alone", s.Cut.Tick, s.Cut.BackMS)
	line("slow", "a spectator that got nothing for %d ms: %d states sent in place of what it missed", s.Slow.HeldMS, s.Slow.Synced-1)
	line("planted", "in the copy of player %d, from tick %d on: a bit of %s", s.Planted.Player, s.Planted.Tick, s.Planted.Path)
	line("desync", "found at tick %d, healed by the state of tick %d and what followed", s.Desync.Tick, s.Desync.Healed)
	line("replay", "%s", s.Replay)
	line("verify", "%s simulated again: %s, %d differ", count(s.Verify.Ticks, "tick"), count(s.Verify.Checked, "checksum"), s.Verify.Differed)
	s.Explained.print(line)
	s.printEnd(line, s.Replay)
	_, err := io.WriteString(w, b.String())
	return err
}
