package rules

import (
	"maps"
	"slices"

	"example.com/caravan/goods"
	"example.com/caravan/ledger"
	"example.com/caravan/roads"
)

// tally computes a number of each kind.
func (w *World) tally() {
	all := []func(*World) int64{
		visits, purses, rumours, guards, mail, toll, weather, ranks, postings, caps, ledgers, windows, tags,
		layers, twice, groups, shares, backs, guesses, packed, roots, hops, kinds, walks, letters, sums, turns,
	}
	for i, f := range all {
		w.Tallies[i] = f(w)
	}
}

// visits counts the visitors of all towns.
func visits(w *World) int64 {
	seen := map[int32]int{}
	for i := range w.Towns {
		for _, id := range w.Towns[i].Recent {
			seen[id]++
		}
	}
	delete(seen, 100)
	n := int64(0)
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		n = n*5 + int64(id)*int64(seen[id])
	}
	return n
}

// purses adds what caravans have.
func purses(w *World) int64 {
	return ledger.Sum(w.Caravans, func(c *Caravan) int64 { return c.Purse }) + int64(ledger.Sum(w.Towns, func(t *Town) int32 { return t.Mood }))
}

// rumours spread from caravan to caravan.
func rumours(w *World) int64 {
	var heard ledger.Ring[int32]
	for i := range w.Caravans {
		heard.Add(w.Caravans[i].At.X)
	}
	n := int64(0)
	for i, x := range heard.Latest(4) {
		n += int64(x) << (i * 8)
	}
	return n
}

// guards walk over a copy of the towns.
func guards(w *World) int64 {
	n := int64(0)
	for i := range w.Towns {
		x := w.Towns[i]
		u := &x
		u.Stock[0] += 7
		u.Mood += 2
		n += u.worth()
	}
	return n
}

// mail goes through a channel.
func mail(w *World) int64 {
	box := make(chan int32, 4)
	for i := range w.Caravans {
		select {
		case box <- w.Caravans[i].At.Y:
		default:
		}
	}
	close(box)
	n := int64(0)
	for y := range box {
		n = n*3 + int64(y)
	}
	return n
}

// toll is what the places take.
func toll(w *World) int64 {
	n := goods.Toll("gate") * int32(w.Tick)
	if w.Tick%5 == 2 {
		n += goods.Toll("pass")
	}
	return int64(n + goods.Toll("ford"))
}

// weather is that of the season.
func weather(w *World) int64 {
	mood := goods.Moods[int(w.Tick/3)%len(goods.Moods)]
	return int64(mood) * int64(goods.Season[w.Tick/10%4])
}

// ranks gives goods their numbers.
func ranks(w *World) int64 {
	n := int64(0)
	for i, name := range goods.Ranked() {
		n = n*7 + int64(goods.Cost(name))*int64(i+1)
	}
	return n + int64(w.Tick)
}

// postings go to the board, and are taken down again.
func postings(w *World) int64 {
	n := int64(0)
	for i := range int32(5) {
		if !goods.Post(i + int32(w.Tick)) {
			n += 1000
		}
	}
	for len(goods.Board) > 0 {
		n = n*2 + int64(<-goods.Board)
	}
	return n
}

// caps lets lists share their memory.
func caps(w *World) int64 {
	list := []int32{int32(w.Tick), 2, 3, 4, 5}
	head := list[:2:2]
	head = append(head, 50)
	tail := append(list[:3:3], 60)
	first := &head[0]
	head = append(head, 70, 80)
	*first += 5
	n := int64(0)
	for _, x := range slices.Concat(list, head, tail) {
		n = n*3 + int64(x)
	}
	return n
}

// ledgers has names in order.
func ledgers(w *World) int64 {
	var book ledger.Ordered[string, int64]
	for i, g := range goods.Table {
		book.Set(g.Name, int64(w.Towns[0].Stock[i]))
	}
	book.Drop("iron")
	n := int64(0)
	for name, v := range book.All() {
		n = n*3 + v + int64(len(name))
	}
	return n
}

// windows slides over the stock.
func windows(w *World) int64 {
	t := w.Towns[len(w.Towns)-1]
	recent := slices.Clone(t.Recent)
	for i := range recent {
		recent[i] *= 2
	}
	var last [3]int32
	clear(last[:])
	for i, x := range recent {
		last[i%3] += x
	}
	if len(recent) > 2 {
		recent = slices.Insert(recent, 1, last[0], last[1])
		clear(recent[3:])
	}
	n := int64(0)
	for _, x := range recent {
		n = n*3 + int64(x)
	}
	return n
}

// tags mixes the places.
func tags(w *World) int64 {
	n := uint32(0)
	for i := range w.Caravans {
		n = n<<3 | n>>29
		n ^= w.Caravans[i].At.Tag()
	}
	return int64(n)
}

// shuffled is a list of kinds in another order each tick.
func shuffled(w *World) []int {
	list := []int{0, 1, 2, 3, 4}
	for i := range list {
		j := (i + int(w.Tick)) % len(list)
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// kinds looks at the goods in that order.
func kinds(w *World) (n int64) {
search:
	for _, g := range shuffled(w) {
		for i := range w.Towns {
			switch {
			case w.Towns[i].Stock[g] > 40:
				continue search
			case w.Towns[i].Stock[g] == 0:
				break search
			}
			n += int64(w.Towns[i].Stock[g])
		}
		n++
	}
	return n
}

// walks goes from town to town.
func walks(w *World) int64 {
	at, n := roads.Point{}, int64(0)
	for i := range w.Towns {
		for steps := 0; !at.Toward(w.Towns[i].At, 4); steps++ {
			n += int64(steps)
		}
	}
	return n
}

// hops goes along the nearest towns.
func hops(w *World) int64 {
	n := int64(0)
	for i := range w.Towns {
		n = n*11 + int64(roads.Hops(w.Next, i, 2))
	}
	return n
}

func roots(w *World) int64 {
	return int64(roads.Root(int32(w.Worth & 0xfff)))
}

func packed(w *World) int64 {
	n := int64(0)
	for i := range w.Caravans {
		n += int64(roads.Pack(w.Caravans[i].At))
	}
	return n
}
