package live

import (
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// holds are the sorts of a Link's Hold by the reason. The server's own reasons have none.
var holds = map[string]string{
	protocol.LobbyPlayers: "players", protocol.LobbyReady: "ready", protocol.LobbyBegins: "begins", protocol.HeldPaused: "paused",
	protocol.HeldForSlow: "slow", protocol.HeldSlower: "slower", protocol.HeldForReturn: "return", player.LinkStalled: "stalled", "": "",
}

// held shows why the match stands still or is slower. What passes by itself, such as a short silence, makes no line.
func (n *news) held(e *player.Held) {
	l := &n.link
	l.Text, l.Held, l.HeldFor, l.Lobby, n.since, n.until = "live", e.Reason, []int{}, e.InLobby(), e.Since, e.Until
	var known bool
	if l.Hold, known = holds[e.Reason]; !known {
		l.Hold = "server"
	}
	for _, p := range e.Players {
		l.HeldFor = append(l.HeldFor, int(p))
	}
	if e.Reason != "" {
		l.Text = "the match is on hold: " + e.Reason
	}
	if e.Reason == n.told || e.Reason == player.LinkStalled {
		return
	}
	switch n.told = e.Reason; {
	case e.Reason == "":
		n.line("link", -1, "the match goes on")
	case e.InLobby():
		n.line("link", -1, e.Reason)
	default:
		n.line("link", -1, l.Text)
	}
}
