//samestep:deterministic
package good

import (
	"maps"
	"slices"
)

func list(units map[uint32]int32) []uint32 {
	var ids []uint32
	for id, health := range units {
		if health > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids) // right after the loop
	return ids
}

func keys(units map[uint32]int32) []uint32 {
	ids := slices.Collect(maps.Keys(units))
	slices.Sort(ids)
	return ids
}

func hash(units map[uint32]int32) (h uint32) {
	for _, id := range slices.Sorted(maps.Keys(units)) {
		h = h*31 + id
	}
	return h
}

func sum(units map[uint32]int32) (n int, all int64, most int32) {
	for _, health := range units {
		n++
		all += int64(abs(health))
		most = max(most, health)
	}
	return n, all, most
}

func abs(x int32) int32 {
	if x < 0 {
		return -x
	}
	return x
}

func least(units map[uint32]int32) int32 {
	least := int32(1 << 30)
	for _, health := range units {
		if health < least {
			least = health
		}
	}
	return least
}

func bury(units map[uint32]int32) {
	for id, health := range units {
		if health <= 0 {
			delete(units, id)
		}
	}
}

func twice(units map[uint32]int32) map[uint32]int32 {
	more := map[uint32]int32{}
	for id, health := range units {
		more[id] = 2 * health
	}
	return more
}

func any(units map[uint32]int32) bool {
	for _, health := range units {
		if health > 0 {
			return true
		}
	}
	return false
}

func found(units map[uint32]int32, wanted int32) (found bool) {
	for _, health := range units {
		if health == wanted {
			found = true
			break
		}
	}
	return found
}

func histogram(units map[uint32]uint8) (counts [256]uint32) {
	for _, kind := range units {
		counts[kind]++
	}
	return counts
}

type unit struct{ health, armor int32 }

func hit(units map[uint32]*unit, damage int32) {
	for _, u := range units {
		if u.armor == 0 {
			u.health -= damage
		}
	}
}

func lists(units map[uint32]uint8, members map[uint32][]uint8) {
	for id, kind := range units {
		members[id] = append(members[id], kind)
	}
}
