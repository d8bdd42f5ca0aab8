package server

import (
	"slices"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server/internal/bundles"
)

// evidence writes a desync's bundle, or replaces the one that was written early.
func (m *Match) evidence(e *host.Evidence) {
	if e.Panic == nil && !m.bundles.Known(e) {
		m.desynced(e)
	}
	if a := e.Resimulation; a != nil && e.Panic == nil {
		logged.Session(m.logger, m.owners.Session(e.Report.Player)).Warn("computed again", "tick", e.Report.Tick, "player", e.Report.Player, "outcome", a.Outcome.String(), "first", a.First)
	}
	m.bundles.Write(m.caseOf(e))
}

// desynced counts and logs a desync.
func (m *Match) desynced(e *host.Evidence) {
	m.server.metrics.desyncs.of(m.spec.Game.Build()).Inc()
	about := slices.DeleteFunc(slices.Clone(e.Participants), func(p host.Participant) bool { return p.Player != e.Report.Player && !e.Report.Tie })
	if len(about) == 0 { // the player has left
		logged.Session(m.logger, m.owners.Session(e.Report.Player)).Warn("desync", "report", e.Report.String(), "player", int(e.Report.Player))
	}
	for _, p := range about { // of a tie, a line about each player
		var of *conn
		for _, c := range m.conns {
			if c.seat == p.Player {
				of = c
			}
		}
		words := []any{"report", e.Report.String(), "player", int(p.Player)}
		logged.Session(m.logger, m.owners.Session(p.Player)).Warn("desync", append(words, machineOf(of, p.Build, p.Platform)...)...)
	}
}

// caseOf returns evidence with what another machine needs to simulate the match: its assets, and the module of its rules.
func (m *Match) caseOf(e *host.Evidence) *bundles.Case {
	x := &bundles.Case{Evidence: e, Header: m.header, MaxBytes: m.maxReplay()}
	for _, a := range m.assets {
		x.Contents = append(x.Contents, m.server.assets.find(a.SHA256))
	}
	if module := m.server.options.ModuleOf; module != nil {
		if b := module(m.spec.Game); b != nil {
			x.Contents = append(x.Contents, b)
		}
	}
	return x
}
