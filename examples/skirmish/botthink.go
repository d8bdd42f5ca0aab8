package skirmish

// Think returns the orders to give after a tick, usually none. It does not change the world. The orders and their
// values are valid until the next call.
func (b *Bot) Think(w *World) []Order {
	b.sent = b.sent[:0]
	if w.Match.Tick < b.next || int(b.player) >= len(w.Players) {
		return nil
	}
	b.next = w.Match.Tick + 26 + b.rand.N(21)
	if w.Players[b.player].Status == Defeated {
		return nil
	}
	b.view.look(w, b.player)
	for _, idea := range []func(*Bot, *World) bool{
		(*Bot).concede, (*Bot).defend, (*Bot).open, (*Bot).settle, (*Bot).employ, (*Bot).raise, (*Bot).grow, (*Bot).campaign,
		(*Bot).aim, (*Bot).mend, (*Bot).watch, (*Bot).scout,
	} {
		if idea(b, w) {
			break
		}
	}
	return b.sent
}
