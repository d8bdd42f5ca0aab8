package host

import (
	"cmp"
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A StartPolicy says when a match leaves its lobby, in which no tick is sealed and everybody is shown the first state.
// In the lobby players take and leave seats, say that they are ready, and chat. [Host.Start] ends it at any time. A match
// that has left its lobby never comes back to it. The zero policy has no lobby.
type StartPolicy struct {
	Players   int           // who must be there, bots not counted; 0 with Ready: one for each seat without a bot
	Ready     bool          // all who are there must have said that they are ready, see [protocol.KindReady]
	Countdown lockstep.Time // from then on until the first tick; it begins again when somebody leaves or is no longer ready

	// Deadline bounds with Ready how long some players can keep the others in the lobby. Time counts while at least half of those who
	// are there are ready, and the server does not hold the match ([Host.Hold]). A fifth of it is what the lobby waits for one player, or for the guests of one address: then it treats the
	// player as ready. When it is over since the first moment at which enough players were there, the match begins with those who
	// are there. 5 minutes; negative: never.
	Deadline lockstep.Time
}

// maxCountdown bounds StartPolicy.Countdown.
const maxCountdown = 3600 * lockstep.Second

// ErrBegun is the error of [Host.Start] for a match that has left its lobby.
var ErrBegun = errors.New("lockstep: host: the match has begun")

// A lobby is the time of a match before its first tick.
type lobby struct {
	open     bool
	begins   lockstep.Time // when the countdown ends; 0 without one
	patience patience
}

// InLobby reports whether the match waits for its players to begin.
func (h *Host) InLobby() bool { return h.lobby.open && !h.over }

// Start ends the lobby at once.
func (h *Host) Start(now lockstep.Time) error {
	h.at(now)
	if !h.InLobby() {
		return ErrBegun
	}
	h.leaveLobby()
	return nil
}

func (h *Host) leaveLobby() {
	h.lobby = lobby{}
	h.pace.waiting = h.Held() != "" // and no longer for players
	h.event(Event{Kind: MatchBegun, Player: lockstep.System})
	h.tellWait()
}

// gathers reports whether the match must stay in its lobby.
func (h *Host) gathers() bool {
	if !h.lobby.open {
		return false
	}
	h.countPatience()
	if w := h.lobbyWait(); w.Reason != protocol.LobbyBegins || h.now < w.Until {
		return true
	}
	h.leaveLobby()
	return false
}

// lobbyWait returns why the lobby is open. It follows the countdown.
func (h *Host) lobbyWait() Wait {
	if w := h.awaitedInLobby(); w.Reason != "" {
		h.lobby.begins = 0
		return w
	}
	if h.lobby.begins == 0 {
		h.lobby.begins = h.now + h.options.Start.Countdown
	}
	return Wait{Reason: protocol.LobbyBegins, Until: h.lobby.begins}
}

// awaitedInLobby returns what the lobby waits for before the countdown, or no Wait.
func (h *Host) awaitedInLobby() Wait {
	policy := h.options.Start
	_, came, people := h.gathered()
	var unready []lockstep.Player
	for i := range h.seats {
		s := &h.seats[i]
		switch {
		case h.isBot(lockstep.Player(i)) || s.want == vacant:
		case h.outOfPatience(s):
			if s.want != here {
				came++ // as if it were there
			}
		case s.want == here && !s.ready:
			unready = append(unready, lockstep.Player(i))
		}
	}
	need := policy.Players
	if need == 0 && policy.Ready {
		need = people
	}
	need = min(need, people)
	h.lobby.patience.full = h.lobby.patience.full || came >= need
	switch {
	case policy.Ready && h.isLate():
		return Wait{}
	case came < need:
		return Wait{Reason: protocol.LobbyPlayers}
	case policy.Ready && len(unready) > 0:
		return Wait{Reason: protocol.LobbyReady, Players: unready}
	}
	return Wait{}
}

// setReady takes a player's word that it is ready, or no longer. After the lobby it means nothing.
func (h *Host) setReady(p *peer, m *protocol.Message) {
	switch {
	case p.seat == lockstep.System:
		h.offend(p, protocol.ErrorRole, "spectators are not asked whether they are ready")
		return
	case h.lobby.open:
		s := &h.seats[p.seat]
		if s.says && !m.Ready && !h.budget.Take(h.now, &p.tab, budget.Ready, 1) {
			h.limited(p, "you have changed your mind too often: you stay ready")
			return
		}
		s.says = m.Ready
		h.noteReady(p.seat)
	}
}

// noteReady writes what a player in the lobby says into the log. Beyond the limits it is written later, like a name.
func (h *Host) noteReady(p lockstep.Player) {
	s := &h.seats[p]
	if !h.lobby.open || s.peer == nil || s.says == s.ready {
		return
	}
	text := record.ReadyNo
	if s.says {
		text = record.ReadyYes
	}
	if !h.talk.Ready(h.purse(s.peer), text) {
		h.wakeAt(h.now + lockstep.Second)
		return
	}
	s.ready = s.says
	_ = h.c.Note(p, record.TopicReady, text) // an error ends the match; Advance handles that
	h.wakeAt(h.now)
}

// tellSeats notes who has which seat, while no tick is sealed that could tell the peers.
func (h *Host) tellSeats() {
	if !h.untold || !h.lobby.open && !h.pace.waiting && !h.c.Paused() {
		return
	}
	h.untold = false
	for i := range h.seats {
		if p := lockstep.Player(i); h.isBot(p) {
			_ = h.introduce(p) // an error ends the match; Advance handles that
		} else {
			h.show(p, h.seats[i].want.text())
		}
	}
}

// tickTold notes that the peers know the seats from the sealed tick.
func (h *Host) tickTold() {
	for i := range h.seats {
		if s := &h.seats[i]; s.sealing {
			s.shown, s.sealing = h.presence(lockstep.Player(i), s.told), false
		}
	}
}

// presence returns the text of a seat's presence.
func (h *Host) presence(p lockstep.Player, of presence) string {
	if h.isBot(p) {
		return record.PresenceBot
	}
	return of.text()
}

// show notes a presence that the peers do not know.
func (h *Host) show(p lockstep.Player, presence string) {
	s := &h.seats[p]
	before := cmp.Or(s.shown, record.PresenceVacant)
	if presence == before {
		return
	}
	if s.why != "" && before != record.PresenceVacant {
		h.announce(p, record.EventReason, s.why)
	}
	s.shown, s.why = presence, ""
	h.announce(p, record.EventPresence, presence)
}
