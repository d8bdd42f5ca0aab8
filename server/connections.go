package server

import (
	"net/http"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A connectionView is the JSON of a connection, for admins.
type connectionView struct {
	Peer         uint64         `json:"peer,string"`
	State        string         `json:"state"`
	Role         string         `json:"role"`
	Seat         *int           `json:"seat"`    // null for a spectator
	Session      string         `json:"session"` // its id, as in the log
	Name         string         `json:"name"`
	Build        string         `json:"build"`
	Platform     string         `json:"platform"`
	Subject      string         `json:"subject"`
	Guest        bool           `json:"guest"`
	Address      string         `json:"address"` // the network whose budgets it shares
	Spent        map[string]int `json:"spent"`   // of the budgets of its subject or address in the match, in percent
	AddressSpent map[string]int `json:"address_spent"`
}

// listConnections answers with the connections of a match, and what they and their addresses have spent of their budgets.
func (ma *matchAPI) listConnections(w http.ResponseWriter, r *http.Request) {
	all, now := []connectionView{}, time.Now()
	ma.doReply(w, r, func(m *Match, h *host.Host) error {
		for _, c := range h.Info().Connections(m.now()) {
			v := connectionView{
				Build: c.Build, Platform: c.Platform, Peer: uint64(c.ID), State: c.State.String(), Role: roleNames[c.Role], Name: c.Name, Subject: c.Subject, Guest: c.Guest,
				Address: c.Address, Spent: c.Spent, AddressSpent: map[string]int{},
			}
			if of := m.conns[c.ID]; of != nil {
				v.Session, v.AddressSpent = of.session, ma.gates.spent(of.addr, c.Subject, now)
				v.AddressSpent["guest_matches"] = ma.guests.Tried(of.addr, now)
			}
			if seat := int(c.Seat); seat < int(m.spec.Settings.Players) {
				v.Seat = &seat
			}
			all = append(all, v)
		}
		return nil
	}, func(*Match) { reply(w, http.StatusOK, all) })
}
