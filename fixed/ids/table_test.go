package ids_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/ids"
	"github.com/seed-49bee653/samestep/state"
)

type thing struct{ Value uint32 }

// A table behaves like a map with sorted keys under random calls.
func TestTable(t *testing.T) {
	for seed := range uint64(40) {
		var table ids.Table[thing]
		naive, dice, last := map[ids.ID]uint32{}, fixed.NewRand(seed), ids.ID(0)
		for range 300 {
			switch id := ids.ID(dice.N(uint32(last) + 3)); dice.N(8) {
			case 0, 1, 2, 3:
				last++
				naive[last] = dice.Uint32()
				if got := table.Add(thing{naive[last]}); got != last {
					t.Fatalf("id %d, want %d", got, last)
				}
			case 4, 5:
				_, want := naive[id]
				if got := table.Remove(id); got != want {
					t.Fatalf("removed %d: %v, want %v", id, got, want)
				}
				delete(naive, id)
			case 6:
				bit := dice.N(9)
				table.Keep(func(id ids.ID, item *thing) bool {
					if item.Value != naive[id] {
						t.Fatalf("id %d comes with %d, want %d", id, item.Value, naive[id])
					}
					return item.Value>>bit&7 != 0
				})
				maps.DeleteFunc(naive, func(_ ids.ID, value uint32) bool { return value>>bit&7 == 0 })
			default:
				if item := table.Get(id); item != nil {
					item.Value++
					naive[id]++
				}
			}
			if want := slices.Sorted(maps.Keys(naive)); !slices.Equal(table.IDs, want) || len(table.Items) != len(want) {
				t.Fatalf("ids %d, want %d, %d items", table.IDs, want, len(table.Items))
			}
			for id := range last + 3 {
				value, ok := naive[id]
				if item := table.Get(id); (item != nil) != ok || ok && item.Value != value {
					t.Fatalf("id %d is %v, want %d %v", id, item, value, ok)
				}
			}
		}
	}
}

// A table is a state, and works after a restore; no bytes make its methods panic.
func TestTableIsState(t *testing.T) {
	codec := state.MustCompile[ids.Table[thing]]()
	var table, copied ids.Table[thing]
	table.Add(thing{5})
	table.Remove(table.Add(thing{6}))
	if err := codec.Decode(codec.Append(nil, &table), &copied); err != nil || copied.Add(thing{7}) != 3 || copied.Get(1).Value != 5 {
		t.Errorf("got %v, %v", copied, err)
	}
	for _, bad := range []ids.Table[thing]{
		{Last: 9, IDs: []ids.ID{1, 2, 3}, Items: []thing{{1}}}, {IDs: []ids.ID{9, 2, 9, 2}}, {Items: []thing{{1}}}, {IDs: []ids.ID{1<<32 - 1, 0}},
	} {
		for _, id := range []ids.ID{0, 1, 2, 3, 9, 1<<32 - 1} {
			if got := bad.Get(id); got != nil && got.Value != 1 {
				t.Error("got an element of no table")
			}
		}
		bad.Remove(9)
		bad.Keep(func(ids.ID, *thing) bool { return true })
	}
	full := ids.Table[thing]{Last: 1<<32 - 1}
	if id := full.Add(thing{}); id != 0 || len(full.Items) != 0 {
		t.Errorf("id %d after the last", id)
	}
}

// Find agrees with a linear search, for dense, sparse and extreme ids.
func TestFind(t *testing.T) {
	dice := fixed.NewRand(3)
	for range 400 {
		id, list := dice.N(50), []uint32(nil)
		if dice.N(8) == 0 {
			id = 1<<32 - 1 - dice.N(200)
		}
		for range dice.N(60) {
			if id > 1<<32-8 {
				break
			}
			id += 1 + dice.N(1+dice.N(5))
			list = append(list, id)
		}
		for k := range uint32(400) {
			probe := id + 9 - k
			if got, want := ids.Find(list, probe), slices.Index(list, probe); got != want {
				t.Fatalf("%d is at %d, want %d", probe, got, want)
			}
		}
	}
}

// Keep and Add allocate nothing once the table has its size.
func TestNoAllocations(t *testing.T) {
	var table ids.Table[thing]
	tick := func() {
		for k := range uint32(100) {
			table.Add(thing{k})
		}
		odd := uint32(0)
		table.Keep(func(_ ids.ID, item *thing) bool { odd++; return odd%2 == 1 })
		table.Keep(func(_ ids.ID, item *thing) bool { return item.Value < 20 })
		if len(table.IDs) > 50 {
			table.Keep(func(ids.ID, *thing) bool { return false })
		}
	}
	for range 20 {
		tick()
	}
	if got := testing.AllocsPerRun(20, tick); got != 0 {
		t.Errorf("%v allocations in a tick", got)
	}
}

// BenchmarkFind looks up units of which a tenth are dead:
//
//	go test ./fixed/ids -run '^$' -bench .
func BenchmarkFind(b *testing.B) {
	var list, probes []uint32
	index, dice := map[uint32]int{}, fixed.NewRand(1)
	for id := uint32(1); id < 11000; id++ {
		if dice.N(10) > 0 {
			index[id] = len(list)
			list = append(list, id)
		}
	}
	for range 1024 {
		probes = append(probes, dice.N(11000))
	}
	for _, way := range []struct {
		name string
		find func(id uint32) int
	}{
		{"by=map", func(id uint32) int { return index[id] }},
		{"by=binary-search", func(id uint32) int { i, _ := slices.BinarySearch(list, id); return i }},
		{"by=ids", func(id uint32) int { return ids.Find(list, id) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				way.find(probes[i%1024])
				i++
			}
		})
	}
}
