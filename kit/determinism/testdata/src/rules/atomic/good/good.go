//samestep:deterministic
package good

type world struct{ gold uint32 }

func earn(w *world) { w.gold++ }
