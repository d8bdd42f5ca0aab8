//samestep:deterministic
package good

type world struct {
	gold, wood uint32
	units      []uint32
}

func (w *world) earn() uint32 {
	w.gold++
	return w.gold
}

func (w *world) spawn() uint32 {
	w.units = append(w.units, 0)
	return uint32(len(w.units))
}

func sum(w *world) uint32 {
	earned := w.earn()
	return w.gold + earned
}

func calls(w *world) uint32 { return w.earn() + 2*w.earn() } // from left to right

func other(w *world) uint32 { return w.wood + w.earn() }

func check(w *world) bool { return w.gold > 3 && w.earn() > 5 }

func swap(list []uint32, i, j int) {
	list[i], list[j] = list[j], list[i]
	i, list[i] = j, 7 // the index is evaluated first, the assignments are made from left to right
}

func put(w *world) {
	id := w.spawn()
	w.units[0] = id
}

func set(w *world) { w.gold = w.earn() }

type vec struct{ gold, wood uint32 }

func copied(w *world) vec { return vec{gold: w.earn(), wood: w.wood} }
