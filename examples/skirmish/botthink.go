package skirmish

// The ideas of a bot by urgency, in a match that begins with armies and in one that begins small.
var (
	largeIdeas = []func(*Bot, *World) bool{
		(*Bot).concede, (*Bot).defend, (*Bot).open, (*Bot).settle, (*Bot).employ, (*Bot).raise, (*Bot).grow, (*Bot).campaign,
		(*Bot).aim, (*Bot).mend, (*Bot).watch, (*Bot).scout,
	}
	smallIdeas = []func(*Bot, *World) bool{
		(*Bot).concede, (*Bot).protect, (*Bot).flee, (*Bot).employ, (*Bot).recruit, (*Bot).expand, (*Bot).rally, (*Bot).advance,
		(*Bot).migrate, (*Bot).explore,
	}
)

// Think returns the orders to give after a tick, usually none. It does not change the world. The orders and their
// values are valid until the next call.
func (b *Bot) Think(w *World) []Order {
	b.sent = b.sent[:0]
	if w.Match.Tick < b.next || int(b.player) >= len(w.Players) {
		return nil
	}
	b.next = w.Match.Tick + b.style.rest + b.rand.N(b.style.rest*4/5)
	if w.Players[b.player].Status == Defeated {
		return nil
	}
	b.view.look(w, b.player)
	if b.plan.begun == 0 {
		b.plan.begin(w, &b.view, b.style)
	}
	b.plan.sizeUp(w, &b.view)
	if b.style.blunder > 0 && b.rand.N(b.style.blunder) == 0 {
		return nil
	}
	ideas := largeIdeas
	if b.plan.small {
		ideas = smallIdeas
	}
	for _, idea := range ideas {
		if idea(b, w) {
			break
		}
	}
	return b.sent
}
