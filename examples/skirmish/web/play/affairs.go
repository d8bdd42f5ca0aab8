package play

import (
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/examples/skirmish"
)

// Affairs are what the player may decide about alliances, surrender and observers.
type Affairs struct {
	Others  []Other  `json:"others"`
	Buttons []Button `json:"buttons"`
	Votes   int      `json:"votes"`  // for the surrender of the team
	Needed  int      `json:"needed"` // of them
	Final   bool     `json:"final"`  // the player's vote is the last that is needed
}

// An Other is another player, as the player stands to it.
type Other struct {
	Player  uint8    `json:"player"`
	Stand   string   `json:"stand"`   // "ally", "enemy" or "defeated"
	Offer   string   `json:"offer"`   // "to you", "from you", both or ""
	Buttons []Button `json:"buttons"` // what the rules allow now
}

// affairs returns nil for spectators.
func (p *Player) affairs(w *skirmish.World) *Affairs {
	if int(p.Seat) >= len(w.Players) || len(w.Players) > skirmish.MaxPlayers {
		return nil
	}
	seat, me, judge := uint8(p.Seat), &w.Players[p.Seat], skirmish.Judge(w, p.Seat)
	a := &Affairs{Others: []Other{}}
	for q := range uint8(len(w.Players)) {
		if q != seat {
			a.Others = append(a.Others, p.other(w, q, judge))
		}
	}
	a.Votes, a.Needed = w.Votes(me.Team)
	a.Final = !me.Resigns && a.Votes+1 >= a.Needed
	vote, share := "Vote to surrender", "Hide from spectators"
	if me.Resigns {
		vote = "Take the vote back"
	}
	if me.Secret {
		share = "Show to spectators"
	}
	a.Buttons = p.offered(w, judge,
		Button{Action: "break", Label: "Break the alliance", Hint: "leave your team and be a team alone"},
		Button{Action: "surrender", Label: vote, On: me.Resigns, Hint: "more than half of the team must vote for it"},
		Button{Action: "permit", Label: share, On: me.Secret, Hint: "whether spectators see what you see"},
	)
	return a
}

func (p *Player) other(w *skirmish.World, q uint8, judge func(any) error) Other {
	o := Other{Player: q, Stand: "enemy"}
	switch {
	case w.Players[q].Status == skirmish.Defeated:
		o.Stand = "defeated"
	case w.Players[q].Team == w.Players[p.Seat].Team:
		o.Stand = "ally"
	}
	var offers []string
	if w.Offers(q, uint8(p.Seat)) {
		offers = append(offers, "to you")
	}
	if w.Offers(uint8(p.Seat), q) {
		offers = append(offers, "from you")
	}
	o.Offer = strings.Join(offers, " and ")
	number := strconv.Itoa(int(q))
	o.Buttons = p.offered(w, judge,
		Button{Action: "accept:" + number, Label: "Accept", Hint: "join this player's team"},
		Button{Action: "propose:" + number, Label: "Offer alliance", Hint: "invite this player to your team"},
		Button{Action: "withdraw:" + number, Label: "Take back", Hint: "no longer invite this player"},
	)
	return o
}

// offered returns the buttons whose commands the rules accept now.
func (p *Player) offered(w *skirmish.World, judge func(any) error, buttons ...Button) (able []Button) {
	for _, b := range buttons {
		name, number, _ := strings.Cut(b.Action, ":")
		c := p.decision(w, name, number)
		if b.Able = c != nil && judge(c) == nil; b.Able {
			able = append(able, b)
		}
	}
	return able
}

// decision returns the command of a button about alliances, surrender and observers, or nil.
func (p *Player) decision(w *skirmish.World, name, number string) any {
	if int(p.Seat) >= len(w.Players) {
		return nil
	}
	n, err := strconv.ParseUint(number, 10, 8)
	if err != nil && number != "" {
		return nil
	}
	me, q := &w.Players[p.Seat], uint8(n)
	switch name {
	case "propose", "withdraw":
		return &skirmish.Propose{To: q, Withdraw: name == "withdraw"}
	case "accept":
		return &skirmish.Accept{From: q}
	case "break":
		return &skirmish.Break{}
	case "surrender":
		return &skirmish.Surrender{Withdraw: me.Resigns}
	case "permit":
		return &skirmish.Permit{Observers: me.Secret}
	}
	return nil
}

// hiding counts the undefeated players whose sight the user does not see as a spectator.
func (p *Player) hiding(w *skirmish.World) (n int) {
	for q := range w.Players {
		if int(p.Seat) >= len(w.Players) && w.Players[q].Status != skirmish.Defeated && !w.Shows(w.Players[q].Team) {
			n++
		}
	}
	return n
}
