package server

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// banKey begins the key of all bans of a match, see [Denials].
const banKey = "bans-"

func banKeyOf(match lockstep.MatchID) string { return banKey + match.String() }

// matchOfBans returns the match in the key of its bans.
func matchOfBans(key string) (match lockstep.MatchID, ok bool) {
	text, ok := strings.CutPrefix(key, banKey)
	if b, err := hex.DecodeString(text); ok && err == nil && len(b) == len(match) {
		return lockstep.MatchID(b), true
	}
	return match, false
}

// A keptBan is the JSON of a ban.
type keptBan struct {
	Subject string    `json:"subject,omitempty"`
	Name    string    `json:"name,omitempty"`
	Address string    `json:"address,omitempty"`
	Guests  string    `json:"guests,omitempty"`
	Until   time.Time `json:"until,omitzero"` // zero for the rest of the match
	Reason  string    `json:"reason,omitempty"`
}

func (b *keptBan) active(now time.Time) bool { return b.Until.IsZero() || now.Before(b.Until) }

// parseBans returns the bans in a value; none in nil.
func parseBans(value []byte) (all []keptBan, err error) {
	if value != nil {
		err = json.Unmarshal(value, &all)
	}
	return all, err
}

// keepBans keeps the bans of the match if they have changed.
func (m *Match) keepBans() {
	n := m.host.Bans().Changes()
	if n == m.banChanges {
		return
	}
	m.banChanges, m.bansKept = n, true
	var all []keptBan
	for _, b := range m.host.Bans().List(m.now()) {
		k := keptBan{Subject: b.Subject, Name: b.Name, Address: b.Address, Guests: b.Guests, Reason: b.Reason}
		if b.Until > 0 {
			k.Until = m.epoch.Add(time.Duration(b.Until) * time.Microsecond).UTC()
		}
		all = append(all, k)
	}
	if len(all) == 0 {
		m.server.keeper.keep(banKeyOf(m.header.Match), nil)
		return
	}
	value, _ := json.Marshal(all) // no such value has an error
	m.server.keeper.keep(banKeyOf(m.header.Match), value)
}

// wrongBans is the error of bans that are kept and cannot be restored.
func wrongBans(place string, err error) error {
	return fmt.Errorf("the bans at %s: %w; repair or remove them, then start again", place, err)
}

// restoreBans gives a recovered match the bans that it had.
func (m *Match) restoreBans() error {
	now := m.now()
	all, err := parseBans(m.bans)
	if err != nil {
		return wrongBans(m.server.keeper.place(banKeyOf(m.header.Match)), err)
	}
	for _, b := range all {
		until := lockstep.Time(0)
		if !b.Until.IsZero() {
			if until = lockstep.Time(b.Until.Sub(m.epoch).Microseconds()); until <= now {
				continue
			}
		}
		_, err := m.host.Bans().Add(now, host.Ban{Subject: b.Subject, Name: b.Name, Address: b.Address, Guests: b.Guests, Until: until, Reason: b.Reason})
		if err != nil && m.host.Err() == nil {
			return wrongBans(m.server.keeper.place(banKeyOf(m.header.Match)), err)
		}
	}
	m.bans = nil
	return nil
}

// forgetBans forgets the bans of a match that is over.
func (m *Match) forgetBans() {
	if m.bansKept {
		m.server.keeper.keep(banKeyOf(m.header.Match), nil)
	}
}

// readBans reads the bans that an interrupted match had.
func (dn *denier) readBans(x *recovery) error {
	if dn.keeper.store == nil {
		return nil
	}
	value, err := dn.keeper.store.Get(banKeyOf(x.header.Match))
	x.match.bans, x.match.bansKept = value, value != nil
	return err
}

// awaitBans reads the bans that an interrupted match had. While it cannot, the match stays recovering, which admits nobody, and the
// server is not ready.
func (dn *denier) awaitBans(x *recovery) {
	for told := false; !dn.registry.isClosed(); time.Sleep(keepAgain) {
		err := dn.readBans(x)
		if err == nil {
			return
		}
		if !told {
			told = true
			x.match.logger.Error("the bans of a match cannot be read, so nobody is admitted to it; the server tries again", "at", dn.keeper.place(banKeyOf(x.header.Match)), "err", err)
			dn.registry.countUnread(1)
			defer dn.registry.countUnread(-1)
		}
	}
}

// countUnread counts a match that waits for its bans, or one less.
func (reg *registry) countUnread(n int) {
	reg.mu.Lock()
	reg.recoveries.unread += n
	reg.mu.Unlock()
}
