package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// offend answers a message that is not allowed, and closes a peer that sends too many of them. Code 0 sends no error,
// because the offence was answered in another way.
func (h *Host) offend(p *peer, code protocol.ErrorCode, text string) {
	h.stats.Offences++
	if !h.budget.Take(h.now, &p.tab, budget.Offences, 1) {
		h.close(p, protocol.CloseAbuse, "limits were exceeded again and again")
		return
	}
	switch code {
	case 0:
	case protocol.ErrorLimit:
		if p.limited(h.now) {
			h.private(p, errorMessage(protocol.ErrorLimit, text, ""))
		}
	default:
		h.private(p, errorMessage(code, text, ""))
	}
}

// malformed closes a peer that violates the protocol.
func (h *Host) malformed(p *peer, text string) {
	h.private(p, errorMessage(protocol.ErrorMalformed, text, ""))
	h.close(p, protocol.CloseMalformed, "malformed")
}

// limited reports whether to tell a peer about a limit, at most once a second.
func (p *peer) limited(now lockstep.Time) bool {
	if now < p.errorAt {
		return false
	}
	p.errorAt = now + lockstep.Second
	return true
}

func errorMessage(code protocol.ErrorCode, text, field string) *protocol.Message {
	return &protocol.Message{Kind: protocol.KindError, Code: uint8(code), Text: text, Field: field}
}
