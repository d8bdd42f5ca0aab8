//go:build !js

package mirror

import (
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// darkText is what spectators of such a match are told.
const darkText = "this mirror gets nothing of the match now: watch it at another one"

// A gap is what a match lacks of what its owner has stored.
type gap struct {
	since time.Time // when the mirror last had all of it; zero while it has
	still time.Time // when something last came since then
	at    uint64    // what came then
	dark  bool      // nothing has come for Options.darkAfter
}

// lasts returns for how long there has been a gap.
func (g *gap) lasts(now time.Time) time.Duration {
	if g.since.IsZero() {
		return 0
	}
	return now.Sub(g.since)
}

// look notes where the mirror is, and whether it lacks something. It reports whether the match has become dark, or is so no longer.
func (g *gap) look(now time.Time, at uint64, behind bool, darkAfter time.Duration) (changed bool) {
	was := g.dark
	switch {
	case !behind:
		*g = gap{}
	case g.since.IsZero():
		g.since, g.still, g.at = now, now, at
	case at != g.at:
		g.still, g.at, g.dark = now, at, false
	case now.Sub(g.still) >= darkAfter:
		g.dark = true
	}
	return g.dark != was
}

// lookForGap looks whether the source gives what the owner of the match has stored. If it gives nothing, or is away, the spectators do
// better at another mirror. The mirror goes on trying.
func (m *Match) lookForGap() {
	if m.over || m.stopped {
		return
	}
	at, behind := m.feed.progress()
	behind = behind || m.server.options.Source.away() != ""
	if !m.gap.look(time.Now(), at, behind, m.server.options.darkAfter) {
		return
	}
	if m.gap.dark {
		m.log().Warn("mirror: nothing comes of a match", "away", m.server.options.Source.away(), "seconds", m.gap.lasts(time.Now()).Seconds(), "tick", uint32(m.a.Stats().Tick), "lag", uint32(m.feed.lag()))
		m.a.Close(m.now(), protocol.CloseBusy, darkText, lockstep.Second)
	} else {
		m.log().Info("mirror: the match is no longer dark")
		m.a.Reopen(m.now())
	}
	m.publish()
}

// darkMatches returns the names of the matches that are dark.
func (s *Server) darkMatches() (names []string) {
	for _, m := range s.all() {
		if m.Status().dark {
			names = append(names, m.name)
		}
	}
	slices.Sort(names)
	return names
}
