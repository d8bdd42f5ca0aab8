//go:build !js

package live

import (
	"fmt"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A networkStory is the result of a network demo, as --json prints it.
type networkStory struct {
	demoChecks
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
	Desync struct {
		Tick   lockstep.Tick `json:"tick"`
		Healed lockstep.Tick `json:"healed_at"`
		Path   string        `json:"path"`
		Want   string        `json:"want"`
		Got    string        `json:"got"`
	} `json:"desync"`
	Replay string `json:"replay"`

	hash  uint64 // of the referee's last state
	ended string // whether all guests have it, in words
}

// conclude compares the results with the expected ones.
func (d *networkDemo) conclude() error {
	s := &d.story
	s.Failures = append([]string{}, s.Failures...) // not null in JSON
	s.Match.Players = d.options.Players
	corrupted := d.guests[d.options.Players-1]
	s.ended = "for all"
	for _, g := range d.guests {
		if g.hash != s.hash {
			s.ended, s.parted = "not for all", s.parted || g.tick == s.Match.Ticks
		}
		s.expect(g.tick == s.Match.Ticks && g.hash == s.hash, "%s ended at tick %d with another state", g.name, g.tick)
		s.expect(g == corrupted || g.events["Desynced"] == 0, "%s received a desync report", g.name)
	}
	d.concludeLinks()
	if err := d.concludeDesync(corrupted); err != nil {
		s.expect(false, "%v", err)
	}
	s.Replay = d.match.ReplayPath()
	_, err := s.verify(s.Replay, s.Match.Ticks)
	return err
}

// concludeLinks checks the player with the lost connection, the slow spectator and the late one.
func (d *networkDemo) concludeLinks() {
	s, cut, slow, late := &d.story, d.guests[0], d.guests[d.options.Players], d.guests[d.options.Players+1]
	s.Cut.Tail, s.Cut.BackMS = cut.events["StreamResumed"] > 0, console.Milliseconds(cut.back.Sub(cut.lost))
	s.expect(s.Cut.Tail, "the player with the lost connection did not resume")
	s.Slow.HeldMS, s.Slow.Synced, s.Slow.Equal = d.blockTime().Milliseconds(), slow.events["Synced"], slow.hash == s.hash
	s.expect(s.Slow.Synced > 1, "the slow spectator was not resynced from a keyframe")
	s.Late.LiveMS, s.Late.Equal = console.Milliseconds(late.synced.Sub(s.Late.since)), late.hash == s.hash
	s.expect(!late.synced.IsZero(), "the late joiner never caught up")
}

// concludeDesync checks the corrupted player and the bundle of the server.
func (d *networkDemo) concludeDesync(g *netGuest) (err error) {
	s := &d.story
	s.Desync.Healed = g.healed
	s.expect(g.events["Desynced"] == 1 && g.events["Healed"] == 1, "the corrupted player saw %d desyncs and healed %d times", g.events["Desynced"], g.events["Healed"])
	if s.Explained.Bundle, err = d.bundle(); err != nil {
		return err
	}
	if err := s.explain(); err != nil {
		return err
	}
	e := s.Explained.text
	s.Desync.Tick = e.Tick
	if len(e.Fields.List) == 0 {
		return fmt.Errorf("%s: the states in it do not differ", s.Explained.Bundle)
	}
	s.Desync.Path, s.Desync.Want, s.Desync.Got = e.Fields.List[0].Path, e.Fields.List[0].A, e.Fields.List[0].B
	s.expect(gameset.SectionOf(s.Desync.Path) == gameset.SectionOf(s.Planted.Path), "the first field that differs is %s", s.Desync.Path)
	return nil
}

func (s *networkStory) print(w io.Writer) {
	line := console.NewWrappingLiner(w)
	line("match", "%d bots over links with %v: %s with %s, %s sent", s.Match.Players, playerLink, console.Count(s.Match.Ticks, "tick"), console.Count(int64(s.Match.Commands), "command"), console.Size(int64(s.Match.BytesOut)))
	line("", "checksum %s at the end, %s", s.Match.Checksum, s.ended)
	line("late join", "at tick %d: live after %.0f ms", s.Late.Tick, s.Late.LiveMS)
	line("cut", "player 0 lost its connection at tick %d: back after %.0f ms, by the tail alone", s.Cut.Tick, s.Cut.BackMS)
	line("slow", "a spectator received nothing for %d ms: resynced by %s", s.Slow.HeldMS, console.Count(s.Slow.Synced-1, "state"))
	line("planted", "in the copy of player %d, from tick %d on: a bit of %s", s.Planted.Player, s.Planted.Tick, s.Planted.Path)
	line("desync", "found at tick %d, healed by the state of tick %d and the records after it", s.Desync.Tick, s.Desync.Healed)
	console.NewLiner(w)("replay", "%s", s.Replay)
	s.printEnd(w, s.Replay)
}
