package play

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
)

// A Panel is what stands around the map: the player's account, what is chosen, and
// the buttons for it.
type Panel struct {
	Account *Account   `json:"account"` // nil for one who only watches
	Players []Standing `json:"players"`
	Chosen  []Kinds    `json:"chosen"`
	One     *Details   `json:"one"` // if one unit is chosen
	Buttons []Button   `json:"buttons"`
	Groups  []int      `json:"groups"` // units in the control groups 1 to 9
	Mode    string     `json:"mode"`   // what the next click on the map means; "" for choosing
	Winner  int        `json:"winner"` // 1 + team that has won
}

// An Account is what the player has.
type Account struct {
	Crystals uint32 `json:"crystals"`
	Units    uint16 `json:"units"`
	Cap      uint16 `json:"cap"`
	Army     int    `json:"army"`
	Workers  int    `json:"workers"`
	Idle     int    `json:"idle"` // workers
	Team     uint8  `json:"team"`
	Defeated bool   `json:"defeated"`
}

// A Standing is how a player does, as far as others may know.
type Standing struct {
	Player uint8  `json:"player"`
	Team   uint8  `json:"team"`
	Status string `json:"status"`
	Units  uint16 `json:"units"`
	Kills  uint32 `json:"kills"`
	Losses uint32 `json:"losses"`
}

// Kinds are the chosen units of a kind.
type Kinds struct {
	Kind   string `json:"kind"`
	Number int    `json:"number"`
	Health int32  `json:"health"` // mean, 1/1000
}

// Details are of one unit.
type Details struct {
	ID     uint32 `json:"id"`
	Kind   string `json:"kind"`
	Owner  uint8  `json:"owner"`
	Health uint16 `json:"health"`
	Full   uint16 `json:"full"`
	Task   string `json:"task"`
	Kills  uint16 `json:"kills"`
	Making string `json:"making"` // what a building makes
	Queue  uint8  `json:"queue"`
	Work   int32  `json:"work"` // done of that, or of the building itself, 1/1000
}

// A Button is something that can be done now.
type Button struct {
	Action string `json:"action"` // for [Player.Do]
	Label  string `json:"label"`
	Key    string `json:"key"` // that does the same
	Cost   uint32 `json:"cost"`
	Able   bool   `json:"able"`
	On     bool   `json:"on"` // the mode is this
	Hint   string `json:"hint"`
}

// Panel returns what stands around the map.
func (p *Player) Panel(w *skirmish.World) *Panel {
	panel := &Panel{Account: p.account(w), Groups: make([]int, 9), Winner: int(w.Match.Winner), Chosen: p.kinds(w)}
	for i := range w.Players {
		o := &w.Players[i]
		panel.Players = append(panel.Players, Standing{uint8(i), o.Team, statusNames[o.Status%3], o.Units, o.Kills, o.Losses})
	}
	for i := range w.Units {
		if u := &w.Units[i]; p.owns(u) && u.Group >= 1 && u.Group <= 9 {
			panel.Groups[u.Group-1]++
		}
	}
	if len(p.chosen) == 1 {
		panel.One = p.details(w)
	}
	panel.Buttons = p.buttons(w)
	panel.Mode = modeNames[p.mode]
	if p.mode == BuildAt {
		panel.Mode += ":" + p.building.String()
	}
	return panel
}

var statusNames = [...]string{skirmish.Playing: "playing", skirmish.Absent: "absent", skirmish.Defeated: "defeated"}

func (p *Player) account(w *skirmish.World) *Account {
	if int(p.Seat) >= len(w.Players) {
		return nil
	}
	o := &w.Players[p.Seat]
	a := &Account{Crystals: o.Crystals, Units: o.Units, Cap: w.Config.Cap, Team: o.Team, Defeated: o.Status == skirmish.Defeated}
	for i := range w.Units {
		u := &w.Units[i]
		switch {
		case !p.owns(u) || u.Kind.Building():
		case !worker(u):
			a.Army++
		default:
			a.Workers++
			if u.Task == skirmish.Idle {
				a.Idle++
			}
		}
	}
	return a
}

func (p *Player) kinds(w *skirmish.World) []Kinds {
	var number, health [8]int
	for _, id := range p.chosen {
		if u := scene.Find(w, id); u != nil {
			number[u.Kind%8]++
			health[u.Kind%8] += int(u.Health)
		}
	}
	var all []Kinds
	for k, n := range number {
		if n > 0 {
			kind := skirmish.UnitKind(k)
			all = append(all, Kinds{kind.String(), n, int32(health[k] * 1000 / (n * max(int(kind.Traits().Health), 1)))})
		}
	}
	return all
}

var taskNames = [...]string{"idle", "moving", "attacking", "on the attack", "on patrol", "mining", "building"}

func (p *Player) details(w *skirmish.World) *Details {
	u := scene.Find(w, p.chosen[0])
	if u == nil {
		return nil
	}
	t := u.Kind.Traits()
	d := &Details{ID: uint32(u.ID), Kind: t.Name, Owner: u.Owner, Health: u.Health, Full: t.Health, Kills: u.Kills}
	if !p.owns(u) && p.Team(w) != scene.Everything {
		return d // what an enemy is about is its own business
	}
	d.Task = taskNames[int(u.Task)%len(taskNames)]
	switch {
	case !u.Kind.Building():
	case !u.Built:
		d.Task = "under construction"
		d.Work = permille(u.Work, t.Ticks)
	case u.Queue > 0:
		d.Task, d.Making, d.Queue = "training", u.Making.String(), u.Queue
		d.Work = permille(u.Work, u.Making.Traits().Ticks)
	}
	return d
}

// permille returns how much is done of a work, by what is left of it.
func permille(left, whole uint16) int32 {
	return int32(whole-min(left, whole)) * 1000 / max(int32(whole), 1)
}

// orderButtons are those for units that walk.
var orderButtons = [...]Button{
	{Action: "move", Label: "Move", Key: "M", Hint: "go there without a fight"},
	{Action: "attack", Label: "Attack", Key: "A", Hint: "go there and fight whom you meet"},
	{Action: "patrol", Label: "Patrol", Key: "P", Hint: "go there and back, and fight"},
	{Action: "stop", Label: "Stop", Key: "S", Hint: "stop what they do"},
}

// buttons returns what the chosen units can do.
func (p *Player) buttons(w *skirmish.World) []Button {
	var buttons []Button
	if len(p.own(w, walker)) > 0 {
		buttons = append(buttons, orderButtons[:]...)
	}
	if len(p.own(w, worker)) > 0 {
		buttons = append(buttons, Button{Action: "gather", Label: "Gather", Key: "G", Hint: "mine crystals"})
		for i, k := range []skirmish.UnitKind{skirmish.Base, skirmish.Barracks, skirmish.Tower} {
			buttons = append(buttons, priced("build:", k, "BRT"[i:i+1]))
		}
	}
	makers := p.own(w, func(u *skirmish.Unit) bool { return u.Kind.Building() && u.Built })
	if len(makers) > 0 && len(buttons) == 0 {
		for i, k := range []skirmish.UnitKind{skirmish.Worker, skirmish.Soldier, skirmish.Archer} {
			by := k.Traits().MadeBy
			if len(p.own(w, func(u *skirmish.Unit) bool { return u.Kind == by && u.Built })) > 0 {
				buttons = append(buttons, priced("train:", k, "QWE"[i:i+1]))
			}
		}
		buttons = append(buttons,
			Button{Action: "move", Label: "Rally", Key: "M", Hint: "where its new units gather"},
			Button{Action: "stop", Label: "Cancel", Key: "S", Hint: "empty the queue, and get the crystals back"})
	}
	for i := range buttons {
		b := &buttons[i]
		b.On = p.mode != Select && (b.Action == modeNames[p.mode] || p.mode == BuildAt && b.Action == "build:"+p.building.String())
		b.Able = b.Cost == 0 || int(p.Seat) < len(w.Players) && w.Players[p.Seat].Crystals >= b.Cost
	}
	return buttons
}

func priced(verb string, k skirmish.UnitKind, key string) Button {
	t := k.Traits()
	hint := fmt.Sprintf("%d crystals", t.Cost)
	if t.Damage > 0 {
		hint += fmt.Sprintf(", %d damage at %v cells, %d health", t.Damage, t.Range, t.Health)
	}
	return Button{Action: verb + t.Name, Label: t.Name, Key: key, Cost: t.Cost, Hint: hint}
}
