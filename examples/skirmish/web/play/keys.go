package play

import "github.com/seed-49bee653/samestep/examples/skirmish"

// Key presses a key, named as in browsers ("KeyA", "Digit1", "Escape"), and reports whether the key has a function.
// With control a digit makes the selected units that control group; with shift it adds them to it.
func (p *Player) Key(w *skirmish.World, code string, shift, control bool) (commands []any, known bool) {
	const digit, letter = "Digit", "Key"
	switch {
	case len(code) == len(digit)+1 && code[:len(digit)] == digit && code[len(digit)] != '0':
		group := code[len(digit)] - '0'
		switch {
		case control:
			return p.Assign(w, group, false), true
		case shift:
			return p.Assign(w, group, true), true
		}
		p.Recall(w, group, p.recalled == group)
		p.recalled = group
		return nil, true
	case code == "Escape":
		p.Clear()
	case code == "Tab":
		if shift || !p.NextKind(w) {
			return nil, false
		}
	case code == "Home", code == "Backspace":
		p.Home(w)
	case code == "Period", code == "KeyI":
		p.NextIdle(w)
	case code == "KeyF":
		p.SelectArmy(w)
	case len(code) == len(letter)+1 && code[:len(letter)] == letter && !control:
		for _, b := range p.buttons(w) {
			if b.Key == code[len(letter):] {
				p.recalled = 0
				return p.Do(w, b.Action), true
			}
		}
		return nil, false
	default:
		return nil, false
	}
	p.recalled = 0
	return nil, true
}
