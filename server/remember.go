package server

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// remember writes an event into the replay that no player gets: what the next server needs to resume the match.
func (m *Match) remember(p lockstep.Player, name, text string) {
	if m.writer != nil {
		m.log().Append(record.Event(p, name, text)) // maintainReplay sees its error
		if m.replicated != nil {
			m.replicated.Commit(func() {}) // no record of the host may follow soon
		}
	}
}

// rememberDisclosure writes who may see what of the match.
func (m *Match) rememberDisclosure() {
	m.remember(lockstep.System, record.EventDisclosure, m.host.Disclosure().String())
}

// rememberRules writes which module has the rules of the match, if one has.
func (m *Match) rememberRules() {
	if sum := m.rulesSum(); sum != "" {
		m.remember(lockstep.System, record.EventRules, sum)
	}
}

// rulesSum returns the SHA-256 of the module with the rules of the match, or "".
func (m *Match) rulesSum() string {
	if of := m.server.options.RulesOf; of != nil {
		return of(m.game)
	}
	return ""
}

// rememberClaim writes whose seat it is, if the token does not say so.
func (m *Match) rememberClaim(seat lockstep.Player) {
	g := m.granted
	if seat == lockstep.System || g == nil || g.Seat != host.AnySeat && m.claims[seat] == "" {
		return
	}
	if claim := host.Claim(m.host.Header().Match, g.Subject); claim != m.claims[seat] {
		m.claims[seat] = claim
		m.remember(seat, record.EventClaim, claim)
	}
}

// rememberPause writes whether an admin has paused the match.
func (m *Match) rememberPause() {
	text := host.PausedNo
	if m.paused {
		text = host.PausedYes
	}
	m.remember(lockstep.System, record.EventPaused, text)
}

// restore gives the creator of the match back what the log says about it.
func (m *Match) restore(r *host.Recovery) error {
	if m.spec.Restore == nil || r.Options() == "" {
		return nil
	}
	if err := m.spec.Restore(&m.spec, r.Options()); err != nil {
		return fmt.Errorf("its recorded options %q: %w", r.Options(), err)
	}
	return nil
}
