//samestep:deterministic
package bad

type world struct {
	gold  uint32
	units []uint32
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
	return w.gold + w.earn() // want `order: `
}

func add(w *world) {
	w.gold += w.earn() // want `order: `
}

func put(w *world) {
	w.units[0] = w.spawn() // want `order: `
}

func pair(w *world) (uint32, uint32) {
	return w.gold, w.earn() // want `order: `
}

func both() []int32 {
	n := int32(1)
	next := func() int32 { n++; return n }
	return []int32{n, next()} // want `order: `
}

type list[T any] struct{ all []T }

func (l *list[T]) push(x T) int {
	l.all = append(l.all, x)
	return len(l.all)
}

func pushed(l *list[uint32]) {
	l.all[0] = uint32(l.push(1)) // want `order: `
}
