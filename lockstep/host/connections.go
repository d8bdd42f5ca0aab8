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

// Connections describes the connections, also those that have not authenticated yet, the oldest first.
func (x Info) Connections(now lockstep.Time) (all []Connection) {
	x.h.now = max(x.h.now, now)
	for i, info := range x.Peers() {
		p := x.h.peers.all[i]
		all = append(all, Connection{PeerInfo: info, Address: p.from, Subject: p.subject, Guest: p.guest, Spent: x.h.budget.Spent(x.h.now, &p.tab)})
	}
	return all
}
