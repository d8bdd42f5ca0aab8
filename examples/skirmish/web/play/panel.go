package play

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Panel is the content of the panels around the map: the player's account, the selection, and its buttons.
type Panel struct {
	Account  *Account   `json:"account"` // nil for spectators
	Players  []Standing `json:"players"`
	Selected []Kinds    `json:"chosen"`
	One      *Details   `json:"one"` // if one unit is selected
	Buttons  []Button   `json:"buttons"`
	Groups   []int      `json:"groups"`  // units in the control groups 1 to 9
	Mode     string     `json:"mode"`    // of the next left-click; "" selects
	Winner   int        `json:"winner"`  // 1 + team that has won
	Affairs  *Affairs   `json:"affairs"` // nil for spectators
	Hiding   int        `json:"hiding"`  // players who hide their sight from the user as a spectator
}

// An Account has a player's resources and units.
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

// A Standing has the public facts of a player.
type Standing struct {
	Player uint8  `json:"player"`
	Team   uint8  `json:"team"`
	Status string `json:"status"`
	Units  uint16 `json:"units"`
	Kills  uint32 `json:"kills"`
	Losses uint32 `json:"losses"`
}

// Kinds counts the selected units of a kind.
type Kinds struct {
	Kind   string `json:"kind"`
	Number int    `json:"number"`
	Health int32  `json:"health"` // mean, 1/1000
}

// Details are the facts of one unit.
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
	Work   int32  `json:"work"` // progress of that, or of the building itself, 1/1000
}

// Panel returns the content of the panels around the map.
func (p *Player) Panel(w *skirmish.World) *Panel {
	panel := &Panel{Account: p.account(w), Groups: make([]int, 9), Winner: int(w.Match.Winner), Selected: p.kinds(w)}
	for i := range w.Players {
		o := &w.Players[i]
		panel.Players = append(panel.Players, Standing{uint8(i), o.Team, statusNames[o.Status%3], o.Units, o.Kills, o.Losses})
	}
	for i := range w.Units {
		if u := &w.Units[i]; p.owns(u) && u.Group >= 1 && u.Group <= 9 {
			panel.Groups[u.Group-1]++
		}
	}
	if len(p.selected) == 1 {
		panel.One = p.details(w)
	}
	panel.Buttons = p.buttons(w)
	panel.Affairs, panel.Hiding = p.affairs(w), p.hiding(w)
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
	for _, id := range p.selected {
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

var taskNames = [...]string{"idle", "moving", "attacking", "on the attack", "on patrol", "mining", "building", "holding the position"}

func (p *Player) details(w *skirmish.World) *Details {
	u := scene.Find(w, p.selected[0])
	if u == nil {
		return nil
	}
	t := u.Kind.Traits()
	d := &Details{ID: uint32(u.ID), Kind: t.Name, Owner: u.Owner, Health: u.Health, Full: t.Health, Kills: u.Kills}
	if team := p.Team(w); !p.owns(u) && team != scene.Everything && (team != skirmish.Observers || !w.Shows(u.Team)) {
		return d // an enemy's task is secret
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

// permille returns the progress of a work, from the ticks that are left.
func permille(left, whole uint16) int32 {
	return int32(whole-min(left, whole)) * 1000 / max(int32(whole), 1)
}

// orderButtons are for units that walk.
var orderButtons = [...]Button{
	{Action: "move", Label: "Move", Key: "M", Hint: "move without fighting"},
	{Action: "attack", Label: "Attack", Key: "A", Hint: "attack a unit, or move and fight all enemies on the way"},
	{Action: "patrol", Label: "Patrol", Key: "P", Hint: "move there and back, and fight all enemies on the way"},
	{Action: "stop", Label: "Stop", Key: "S", Hint: "cancel all orders"},
	{Action: "hold", Label: "Hold", Key: "H", Hint: "stay here, and fight only what is in reach"},
}

// buttons returns the actions of the selected units.
func (p *Player) buttons(w *skirmish.World) []Button {
	var buttons []Button
	workers := len(p.own(w, worker)) > 0
	switch {
	case p.menu && workers:
		for i, k := range []skirmish.UnitKind{skirmish.Base, skirmish.Barracks, skirmish.Tower} {
			buttons = append(buttons, priced("build:", k, "BRT"[i:i+1]))
		}
		buttons = append(buttons, Button{Action: "back", Label: "Back", Key: "Esc", Hint: "the other orders"})
	case len(p.own(w, walker)) > 0:
		buttons = append(buttons, orderButtons[:]...)
		if workers {
			buttons = append(buttons,
				Button{Action: "gather", Label: "Gather", Key: "G", Hint: "mine crystals"},
				Button{Action: "menu", Label: "Build", Key: "B", Hint: "choose a building"})
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
			Button{Action: "move", Label: "Rally", Key: "M", Hint: "set the rally point of new units"},
			Button{Action: "stop", Label: "Cancel", Key: "S", Hint: "empty the queue and refund the crystals"})
	}
	if p.allied(w) {
		buttons = append(buttons, Button{Action: "ping", Label: "Ping", Key: "V", Hint: "show a place to your allies"})
	}
	for i := range buttons {
		b := &buttons[i]
		b.On = p.mode != Select && (b.Action == modeNames[p.mode] || p.mode == BuildAt && b.Action == "build:"+p.building.String())
		b.Able = b.Cost == 0 || int(p.Seat) < len(w.Players) && w.Players[p.Seat].Crystals >= b.Cost
	}
	return buttons
}

// allied reports whether somebody else plays in the player's team.
func (p *Player) allied(w *skirmish.World) bool {
	for q := range w.Players {
		if int(p.Seat) < len(w.Players) && lockstep.Player(q) != p.Seat && w.Players[q].Team == w.Players[p.Seat].Team && w.Players[q].Status != skirmish.Defeated {
			return true
		}
	}
	return false
}

func priced(verb string, k skirmish.UnitKind, key string) Button {
	t := k.Traits()
	hint := fmt.Sprintf("%d crystals", t.Cost)
	if t.Damage > 0 {
		hint = fmt.Sprintf("%d crystals, %d damage at %v cells, %d health", t.Cost, t.Damage, t.Range, t.Health)
	}
	return Button{Action: verb + t.Name, Label: t.Name, Key: key, Cost: t.Cost, Hint: hint}
}
