package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// banKey begins the key of all bans of a match, see [Denials].
const banKey = "bans-"

// A keptBan is the JSON of a ban.
type keptBan struct {
	Subject string    `json:"subject,omitempty"`
	Name    string    `json:"name,omitempty"`
	Address string    `json:"address,omitempty"`
	Guests  string    `json:"guests,omitempty"`
	Until   time.Time `json:"until,omitzero"` // zero for the rest of the match
	Reason  string    `json:"reason,omitempty"`
}

// keepBans keeps the bans of the match if they have changed.
func (m *Match) keepBans() {
	m.readBansAgain()
	n := m.host.BanChanges()
	if n == m.banChanges {
		return
	}
	if m.bansUnread != nil {
		m.server.keeper.refuse(m.banKey(), m.bansUnread) // the ones that are kept must not be lost
		return
	}
	m.banChanges, m.bansKept = n, true
	var all []keptBan
	for _, b := range m.host.Bans(m.now()) {
		k := keptBan{Subject: b.Subject, Name: b.Name, Address: b.Address, Guests: b.Guests, Reason: b.Reason}
		if b.Until > 0 {
			k.Until = m.epoch.Add(time.Duration(b.Until) * time.Microsecond).UTC()
		}
		all = append(all, k)
	}
	if len(all) == 0 {
		m.server.keeper.keep(m.banKey(), nil)
		return
	}
	value, _ := json.Marshal(all) // no such value has an error
	m.server.keeper.keep(m.banKey(), value)
}

// restoreBans gives a recovered match the bans that it had.
func (m *Match) restoreBans() {
	if m.server.keeper.store == nil {
		return
	}
	value, err := m.server.keeper.store.Get(m.banKey())
	m.takeBans(value, err)
}

// takeBans gives the match the bans that are kept, or notes the error of reading them.
func (m *Match) takeBans(value []byte, err error) {
	k := m.server.keeper
	if err != nil && m.bansUnread == nil {
		k.log.Error("the bans of a match cannot be read yet, and do not hold", "match", m.spec.Name, "err", err)
	}
	m.bansUnread, m.bansReadAt, m.bansKept = err, time.Now(), err != nil || value != nil
	if err != nil || value == nil {
		return
	}
	var all []keptBan
	if err := json.Unmarshal(value, &all); err != nil {
		k.log.Error("the bans of a match cannot be read", "match", m.spec.Name, "err", err)
		return
	}
	for _, b := range all {
		until := lockstep.Time(0)
		if !b.Until.IsZero() {
			if until = lockstep.Time(b.Until.Sub(m.epoch).Microseconds()); until <= m.now() {
				continue
			}
		}
		if _, err := m.host.Ban(m.now(), host.Ban{Subject: b.Subject, Name: b.Name, Address: b.Address, Guests: b.Guests, Until: until, Reason: b.Reason}); err != nil {
			k.log.Error("a ban does not hold any more", "match", m.spec.Name, "err", err)
		}
	}
}

// readBansAgain begins another attempt to read the bans that the match had, if one is due. The match goes on meanwhile.
func (m *Match) readBansAgain() {
	if m.bansUnread == nil || time.Since(m.bansReadAt) < keepAgain {
		return
	}
	m.bansReadAt = time.Now().Add(time.Hour) // until this attempt is over
	go func() {
		value, err := m.server.keeper.store.Get(m.banKey())
		_ = m.Do(context.Background(), func(*host.Host) { m.takeBans(value, err) }) // a match that is over needs none
	}()
}

// forgetBans forgets the bans of a match that is over.
func (m *Match) forgetBans() {
	if m.bansKept {
		m.server.keeper.keep(m.banKey(), nil)
	}
}

func (m *Match) banKey() string { return banKey + m.host.Header().Match.String() }
