package server

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// rememberDisclosure writes who may see what of the match.
func (m *Match) rememberDisclosure() {
	m.log.Remember(lockstep.System, record.EventDisclosure, m.host.Disclosure().String())
}

// rememberRules writes which module has the rules of the match, if one has.
func (m *Match) rememberRules() {
	if sum := m.rulesSum(); sum != "" {
		m.log.Remember(lockstep.System, record.EventRules, sum)
	}
}

// rulesSum returns the SHA-256 of the module with the rules of the match, or "".
func (m *Match) rulesSum() string {
	if of := m.server.options.RulesOf; of != nil {
		return of(m.game)
	}
	return ""
}

// restore gives the creator of the match back what the log says about it.
func (spec *MatchSpec) restore(options string) error {
	if spec.Restore == nil || options == "" {
		return nil
	}
	if err := spec.Restore(spec, options); err != nil {
		return fmt.Errorf("its recorded options %q: %w", options, err)
	}
	return nil
}
