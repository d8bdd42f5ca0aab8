package line

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A Reported compares what the sides compute with the checksums in a bundle: those of the referee, or of most players without one, and
// those that the player sent, of the checked tick and of the ticks that its machine computed again.
type Reported struct {
	Ticks int         `json:"ticks"`           // of which the player's checksum is known
	Sides []Reproduce `json:"sides"`           // side A and side B, or only the one version there is
	Text  []string    `json:"text"`            // what it means
	Next  string      `json:"next,omitempty"`  // what to do if this version always computes the same
	Doubt string      `json:"doubt,omitempty"` // why what differs between the two sides is not this desync; also a line of Text
}

// A Reproduce says whose checksums a side computes.
type Reproduce struct {
	Referee bool          `json:"referee"`           // all that are known of the referee, or of most players
	Player  bool          `json:"player"`            // all that are known of the player
	Differs lockstep.Tick `json:"differs,omitempty"` // if neither: the tick by which it has differed from both
}

// sums are the checksums of a bundle by tick.
type sums struct {
	manifest        *replay.Manifest
	most            string                   // who has the agreed checksum: "the referee", or "most players"
	referee, player map[lockstep.Tick]uint64 // looked up by tick
	right           bool                     // the player's machine computed the ticks again, and rightly
	changing        bool                     // and with different results
}

// readSums returns the checksums of a bundle. What cannot be read is left out.
func readSums(m *replay.Manifest) *sums {
	s := &sums{manifest: m, most: "most players", referee: map[lockstep.Tick]uint64{}, player: map[lockstep.Tick]uint64{}}
	add := func(to map[lockstep.Tick]uint64, t lockstep.Tick, text string) {
		if h, err := checksum.ParseHash(text); err == nil {
			to[t] = h
		}
	}
	for i := range m.Groups {
		if g := &m.Groups[i]; i == 0 { // the agreed one, since there is a majority
			if g.Referee {
				s.most = "the referee"
			}
			add(s.referee, m.Tick, g.Checksum)
		} else if slices.Contains(g.Players, m.Player) {
			add(s.player, m.Tick, g.Checksum)
		}
	}
	a := m.Resimulation
	if a == nil || len(a.Runs) == 0 {
		return s
	}
	for _, run := range a.Runs[1:] {
		s.changing = s.changing || !slices.Equal(run, a.Runs[0])
	}
	for i, text := range a.Right {
		add(s.referee, a.From+1+lockstep.Tick(i), text)
	}
	first, known := s.player[m.Tick]
	for i, text := range a.Runs[0] {
		if t := a.From + 1 + lockstep.Tick(i); t <= m.Tick && !s.changing {
			add(s.player, t, text)
		}
	}
	if again := s.player[m.Tick]; known && again != first {
		s.right, s.player = true, map[lockstep.Tick]uint64{m.Tick: first}
	}
	return s
}

// reproduced compares the state hashes of a side, from that of a tick on, with the checksums.
func (s *sums) reproduced(first lockstep.Tick, hashes []uint64) (r Reproduce) {
	same := func(known map[lockstep.Tick]uint64) (bool, lockstep.Tick) {
		for _, t := range slices.Sorted(maps.Keys(known)) {
			if t < first || int64(t-first) >= int64(len(hashes)) || hashes[t-first] != known[t] {
				return false, t
			}
		}
		return len(known) > 0, 0
	}
	var notReferee, notPlayer lockstep.Tick
	r.Referee, notReferee = same(s.referee)
	r.Player, notPlayer = same(s.player)
	if !r.Referee && !r.Player {
		r.Differs = max(notReferee, notPlayer)
	}
	return r
}

// report compares sides with the checksums. names are those of the sides.
func (s *sums) report(names []string, sides []Reproduce) *Reported {
	r := &Reported{Ticks: len(s.player), Sides: sides}
	say := func(format string, args ...any) { r.Text = append(r.Text, fmt.Sprintf(format, args...)) }
	byPlayer, byReferee, who := -1, -1, fmt.Sprintf("player %d", s.manifest.Player)
	for i, one := range sides {
		switch {
		case one.Referee && one.Player:
			say("%s computes what %s and %s both had", names[i], s.most, who)
		case one.Referee:
			say("%s computes what %s had", names[i], s.most)
		case one.Player:
			say("%s computes what %s sent", names[i], who)
		default:
			say("%s computes neither what %s had nor what %s sent, up to tick %d", names[i], s.most, who, one.Differs)
		}
		if one.Player {
			byPlayer = i
		}
		if one.Referee {
			byReferee = i
		}
	}
	said := len(r.Text)
	switch {
	case s.changing && len(sides) == 1:
		say("%s computed the ticks again with different results: its rules are not deterministic", who)
	case s.changing:
		say("%s computed the ticks again with different results: its rules are not deterministic, so look without another version or platform", who)
	case s.right:
		say("%s computed the ticks again, and rightly: its version does not always compute otherwise", who)
	case len(s.player) == 0:
	case byPlayer < 0 && len(sides) == 2:
		say("neither side computes what %s sent: the other version is not the one that it had, and what follows is not its desync", who)
	case byPlayer < 0:
		r.Next = "compare with the version or the platform of " + who
	case byReferee < 0 && len(sides) == 2:
		say("neither side computes what %s had: compare the version of %s with that which recorded the match", s.most, who)
	case len(sides) == 1:
		r.Next = "compare with the version or the platform of " + s.most
	}
	if len(sides) == 2 && len(r.Text) > said {
		r.Doubt = r.Text[said]
	}
	return r
}

// reported compares what the sides have computed with a bundle, if the file is one.
func (s *search) reported(jobs ...*job) error {
	b := s.file.Bundle()
	if b == nil {
		return nil
	}
	var all [][]uint64
	for _, j := range jobs {
		hashes, err := j.hashes()
		if err != nil {
			return err
		}
		all = append(all, hashes)
	}
	s.result.Reported = reportOn(&b.Manifest, lockstep.Tick(jobs[0].result.First), all...)
	return nil
}

// reportOn compares the state hashes of sides, from that of a tick on, with the checksums in a bundle. It returns nil for one in which no
// player's checksum differs from that of most: of a tie, or of a panic.
func reportOn(m *replay.Manifest, first lockstep.Tick, hashes ...[]uint64) *Reported {
	if m.Tie || m.Panic != nil {
		return nil
	}
	known := readSums(m)
	var sides []Reproduce
	for _, one := range hashes {
		sides = append(sides, known.reproduced(first, one))
	}
	names := []string{"A", "B"}
	if len(sides) == 1 {
		names = []string{"this version"}
	}
	return known.report(names, sides)
}
