package host

import "github.com/seed-49bee653/samestep/lockstep"

// A Connection describes who is behind a connection, for the operator. Others must not see it.
type Connection struct {
	PeerInfo
	Address string `json:"address"` // as it was given to Connect
	Subject string `json:"subject"` // of its grant; "" before the welcome
	Guest   bool   `json:"guest"`

	// Spent is how much is used of each of [Rates], in percent of what is allowed at once: of the connection's subject, of its address or
	// of the connection itself, whichever counts.
	Spent map[string]int `json:"spent"`
}

// budgetNames are the names of the budgets, as Rates has them.
var budgetNames = [budgets]string{
	"messages", "bytes", "commands", "chat", "syncs", "resyncs", "returns", "notes", "keyframes", "resimulations", "comparisons", "ready", "offences", "pace",
}

// ofFlow reports whether a budget counts for a connection's own messages, and not for its cost to others.
func (b budget) ofFlow() bool { return b <= chatBudget || b == offenceBudget }

// Connections describes the connections, also those that have not authenticated yet, the oldest first.
func (h *Host) Connections(now lockstep.Time) (all []Connection) {
	h.at(now)
	for i, info := range h.Peers() {
		p := h.peers[i]
		c := Connection{PeerInfo: info, Address: p.from, Subject: p.subject, Guest: p.guest, Spent: make(map[string]int, budgets)}
		for b := range budgets {
			a := p.account
			if b.ofFlow() {
				a = p.flow
			}
			c.Spent[budgetNames[b]] = a.used[b].percent(h.now, a.limit(&h.rates, b))
		}
		all = append(all, c)
	}
	return all
}

// percent returns how much of a rate is used, in percent of its burst, rounded up.
func (b *Bucket) percent(now lockstep.Time, r Rate) int {
	b.drain(now, r)
	most := lockstep.Time(r.Burst) * r.Per
	return int((100*b.used + most - 1) / most)
}
