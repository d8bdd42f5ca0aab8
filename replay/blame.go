package replay

import (
	"cmp"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Culprit is who had another checksum than the simulation.
type Culprit string

// The culprits.
const (
	// CulpritPlayer: a player, whose own checksum the log has.
	CulpritPlayer Culprit = "player"

	// CulpritReferee: whoever made the agreed checksum. More than half of the seats
	// had reported what the simulation gives, or somebody had and the referee has
	// said that it was wrong.
	CulpritReferee Culprit = "referee"

	// CulpritBuild: all agreed when the match was played, and the simulation differs:
	// the game at hand is not the one that was played, or the file was edited.
	CulpritBuild Culprit = "build"

	// CulpritKeyframe: a keyframe, though the checksum of its tick is right.
	CulpritKeyframe Culprit = "keyframe"

	// CulpritUnclear: some players had what the simulation gives, and as many had
	// not.
	CulpritUnclear Culprit = "unclear"
)

// A Blame says who was wrong, and when.
type Blame struct {
	Who    Culprit         `json:"who"`
	Player lockstep.Player `json:"player"` // if Who is CulpritPlayer
	Checks int             `json:"checks"` // at which it was wrong
	First  lockstep.Tick   `json:"first"`  // of them
	Last   lockstep.Tick   `json:"last"`

	// Healed is the first check after Last, at which all was well again (a player
	// may also have been silent); 0 if there is none, so that it persists.
	Healed lockstep.Tick `json:"healed"`

	// Gone is the tick at which the player left, or lost the connection, before it
	// healed; 0 for nobody, and for a player who came back and agreed.
	Gone lockstep.Tick `json:"gone"`

	// Open tells that the verification stopped at First, so that nothing is known
	// of what follows.
	Open bool `json:"open"`
}

// A dissent is what one player reported of a check.
type dissent struct {
	tick   lockstep.Tick
	player lockstep.Player
	root   uint64
}

// A hearing takes what a log says of checksums, and finds who was wrong.
type hearing struct {
	verdict  *Verdict
	stopped  bool   // at the first difference
	checks   []item // in the order of ticks
	dissents []dissent
	presence []presence // no more than maxEvidence
	seats    int
	own      map[lockstep.Tick]uint64 // what the simulation has, where that differs; only looked up, never ranged over
	blames   []Blame
	admitted lockstep.Tick         // of the last check before the referee said that it was wrong
	keyframe *lockstep.DesyncError // a keyframe that differs, of which the next check will tell, or nil
	differs  bool                  // at the last check
	gone     [256]lockstep.Tick    // since when a player is gone; 0 for those who are there
}

// A presence tells that a player came or went.
type presence struct {
	tick   lockstep.Tick
	player lockstep.Player
	there  bool
}

// hear fills in who was wrong. It reads the log again, if there is anything to
// blame anybody for; what is wrong with the file was found before.
func (v *Verdict) hear(r *Reader, g *lockstep.Game, o *VerifyOptions) {
	v.Blames = []Blame{}
	defer func() { v.mismatches = nil }()
	if v.Dissents == 0 && v.First == nil {
		return
	}
	own, err := NewReader(r.r, r.size)
	if err != nil {
		return
	}
	h := &hearing{verdict: v, stopped: v.First != nil && !o.KeepGoing, own: make(map[lockstep.Tick]uint64)}
	for err == nil {
		var rec *lockstep.Record
		if rec, err = own.Next(); err == nil {
			err = h.record(rec)
		}
	}
	slices.SortStableFunc(h.checks, func(a, b item) int { return cmp.Compare(a.tick, b.tick) })
	slices.SortStableFunc(h.dissents, func(a, b dissent) int { return cmp.Compare(a.tick, b.tick) })
	h.ties(r, g, SimulateOptions{MaxTicks: o.MaxTicks})
	h.judge()
	slices.SortStableFunc(h.blames, func(a, b Blame) int { return cmp.Compare(a.First, b.First) })
	v.Blames = append(v.Blames, h.blames...)
}

func (h *hearing) record(rec *lockstep.Record) error {
	switch rec.Kind {
	case lockstep.RecordHeader:
		h.seats = int(rec.Header.Settings.Players)
	case lockstep.RecordFrame:
		for i := range rec.Frame.Commands {
			if c := &rec.Frame.Commands[i]; c.Player == lockstep.System && len(h.presence) < maxEvidence {
				h.meet(c)
			}
		}
	case lockstep.RecordChecksum:
		h.checks = append(h.checks, item{tick: rec.Tick, root: rec.Root})
	case lockstep.RecordDissent:
		h.dissents = append(h.dissents, dissent{rec.Tick, rec.Player, rec.Root})
	case lockstep.RecordNote:
		if n := len(h.checks); n > 0 && rec.Player == lockstep.System && rec.Topic == lockstep.TopicReferee {
			h.admitted = h.checks[n-1].tick
		}
	}
	if len(h.checks) > maxEvidence || len(h.dissents) > maxEvidence {
		return io.EOF // enough to tell
	}
	return nil
}

// meet takes a command of System.
func (h *hearing) meet(c *lockstep.Command) {
	value, err := lockstep.SystemValue(c)
	if err != nil {
		return // another engine's
	}
	switch v := value.(type) {
	case *lockstep.Joined:
		h.presence = append(h.presence, presence{c.Tick, v.Player, true})
	case *lockstep.Left:
		h.presence = append(h.presence, presence{c.Tick, v.Player, false})
	case *lockstep.Lost:
		h.presence = append(h.presence, presence{c.Tick, v.Player, false})
	case *lockstep.TakenOver:
		h.presence = append(h.presence, presence{c.Tick, v.Player, false})
	}
}

// maxTies is how many ticks on which the players did not agree are simulated
// again.
const maxTies = 8

// ties adds a check for the first ticks on which there is no agreed checksum:
// what the simulation has.
func (h *hearing) ties(r *Reader, g *lockstep.Game, o SimulateOptions) {
	agreed := evidence(slices.Clone(h.checks))
	var last lockstep.Tick
	found := 0
	for _, d := range h.dissents {
		if d.tick == last || d.tick > h.verdict.Ticks || agreed.find(d.tick) != nil {
			continue
		}
		if found++; found > maxTies {
			break
		}
		last = d.tick
		own, err := NewReader(r.r, r.size)
		if err != nil {
			return
		}
		m, err := stateAt(own, g, d.tick, o, false)
		if err != nil {
			return
		}
		h.checks = append(h.checks, item{tick: m.Tick, root: m.Root})
	}
	slices.SortStableFunc(h.checks, func(a, b item) int { return cmp.Compare(a.tick, b.tick) })
}

// judge goes through the checks and keyframes that were verified.
func (h *hearing) judge() {
	last := h.verdict.Ticks
	if h.stopped {
		last = h.verdict.First.Tick
	}
	keyframes := h.verdict.mismatches
	for _, m := range keyframes {
		if !m.Keyframe {
			h.own[m.Tick] = m.Got
		}
	}
	dissents := h.dissents
	for _, c := range h.checks {
		if c.tick > last {
			break
		}
		for len(keyframes) > 0 && keyframes[0].Tick < c.tick {
			h.key(keyframes[0])
			keyframes = keyframes[1:]
		}
		for len(dissents) > 0 && dissents[0].tick < c.tick {
			dissents = dissents[1:] // of a tick without a verdict
		}
		n := 0
		for n < len(dissents) && dissents[n].tick == c.tick {
			n++
		}
		root, differs := h.own[c.tick]
		if !differs {
			root = c.root
		}
		h.check(c.tick, root, differs, dissents[:n])
	}
	for _, m := range keyframes {
		h.key(m)
	}
	if h.keyframe != nil { // and no check tells more
		h.blame(CulpritBuild, 0, h.keyframe.Tick)
	}
}

// key notes a keyframe that differs from the simulation, unless the state was
// wrong at the last check.
func (h *hearing) key(m *lockstep.DesyncError) {
	if !m.Keyframe || h.differs || h.keyframe != nil {
		return
	}
	if i := h.last(m.Tick); i != nil && i.tick == m.Tick {
		if _, differs := h.own[m.Tick]; !differs {
			h.blame(CulpritKeyframe, 0, m.Tick)
		}
		return
	}
	h.keyframe = m
}

// last returns the last check that is not after a tick, or nil.
func (h *hearing) last(t lockstep.Tick) *item {
	if i := evidence(h.checks).after(t); i > 0 {
		return &h.checks[i-1]
	}
	return nil
}

// check judges one check, of which the simulation has root.
func (h *hearing) check(t lockstep.Tick, root uint64, differs bool, dissents []dissent) {
	for ; len(h.presence) > 0 && h.presence[0].tick <= t; h.presence = h.presence[1:] {
		if p := h.presence[0]; p.there {
			h.gone[p.player] = 0
		} else if h.gone[p.player] == 0 {
			h.gone[p.player] = p.tick
		}
	}
	var wrong [256]bool
	right := 0 // players who had what the simulation has, though the agreed checksum is another
	for _, d := range dissents {
		if d.root != root {
			wrong[d.player] = true
			h.blame(CulpritPlayer, d.player, t)
		} else {
			right++
		}
	}
	first := t
	if h.keyframe != nil && differs {
		first = h.keyframe.Tick
	} else if h.keyframe != nil {
		h.blame(CulpritKeyframe, 0, h.keyframe.Tick)
	}
	h.keyframe, h.differs = nil, differs
	switch {
	case !differs:
	case 2*right > h.seats || right > 0 && t <= h.admitted:
		h.blame(CulpritReferee, 0, first)
	case right > 0 && 2*right == h.seats:
		h.blame(CulpritUnclear, 0, first)
	default:
		h.blame(CulpritBuild, 0, first)
	}
	for i := range h.blames {
		b := &h.blames[i]
		well := !differs
		if b.Who == CulpritPlayer {
			well = !wrong[b.Player]
			if b.Healed == 0 {
				b.Gone = h.gone[b.Player]
			}
		}
		if well && b.Healed == 0 && b.Last < t && b.Gone == 0 {
			b.Healed = t
		}
	}
}

// blame adds a check to what somebody is blamed for.
func (h *hearing) blame(who Culprit, p lockstep.Player, t lockstep.Tick) {
	i := slices.IndexFunc(h.blames, func(b Blame) bool { return b.Who == who && b.Player == p })
	if i < 0 {
		i = len(h.blames)
		h.blames = append(h.blames, Blame{Who: who, Player: p, First: t, Open: h.stopped})
	}
	b := &h.blames[i]
	if b.Checks == 0 || b.Last != t {
		b.Checks++
	}
	b.Last, b.Healed = t, 0
}
