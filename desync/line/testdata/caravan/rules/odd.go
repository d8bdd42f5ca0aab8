package rules

import (
	"encoding/binary"
	"slices"
	"strings"

	"example.com/caravan/goods"
)

// A clerk counts.
type clerk struct {
	n    int64
	desk [2]int64
}

func (c clerk) told(by int64) int64 { return c.n*10 + by }

func (c *clerk) count(by int64) int64 {
	c.n += by
	c.desk[c.n&1]++
	return c.n
}

// layers defers.
func layers(w *World) (n int64) {
	k := int64(w.Tick)
	defer func() { n = n*2 + k }()
	defer func(k int64) { n += k }(k + 3)
	defer func() {
		if r := recover(); r != nil {
			n += r.(int64)
		}
	}()
	k++
	if w.Tick%3 == 0 {
		panic(k)
	}
	return k * 4
}

// twice has a method value, which has its receiver from the beginning.
func twice(w *World) int64 {
	c := clerk{n: int64(w.Tick)}
	told := c.told
	count := c.count
	count(2)
	other := c
	other.count(5)
	return told(count(1)) + c.desk[0]*100 + other.n
}

// groups has closures that share a variable.
func groups(w *World) int64 {
	total := int64(0)
	var later []func() int64
	for i := range w.Caravans {
		share := w.Caravans[i].Purse / 7
		later = append(later, func() int64 {
			total += share
			return total
		})
	}
	n := int64(0)
	for _, f := range later {
		n = n*2 + f()
	}
	return n
}

// shares computes in the order in which it is written.
func shares(w *World) int64 {
	c := clerk{n: int64(w.Tick % 9)}
	a, b := c.count(1), c.count(3)
	list := [4]int64{1, 2, 3, 4}
	i := 1
	i, list[i] = 2, a
	list[i] = c.count(2) - c.count(4)*b
	return list[0] + list[1]*10 + list[2]*100 + list[3]*1000
}

// backs shadows.
func backs(w *World) int64 {
	best, at := int64(-1), 0
	for i := range w.Caravans {
		if purse := w.Caravans[i].Purse; purse > best {
			best, at = purse, i
		}
	}
	n := best
	if t := &w.Towns[at%len(w.Towns)]; t.Mood > 0 {
		n += int64(t.Mood)
		n, rest := n/3, n%3
		n += rest
		best = n
	}
	return n*2 + best
}

// guesses converts numbers.
func guesses(w *World) int64 {
	wide := int64(w.Drawn>>40) * 3
	small := int16(wide)
	byteWide := uint8(small >> 4)
	shift := uint(w.Tick%11) + 3
	mask := uint32(1)<<shift - 1
	return int64(small) + int64(byteWide)<<2 + int64(uint32(wide)&mask) + wide>>shift
}

// letters writes and reads bytes.
func letters(w *World) int64 {
	var b strings.Builder
	for i := range w.Towns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(goods.Table[(i+int(w.Tick))%goods.Kinds].Name)
	}
	n := int64(len(b.String()))
	for word := range strings.SplitSeq(b.String(), ",") {
		n = n*3 + int64(strings.Index(word, "a"))
	}
	var buf [12]byte
	binary.BigEndian.PutUint32(buf[:], uint32(n))
	binary.BigEndian.PutUint16(buf[4:], uint16(w.Tick))
	return int64(binary.LittleEndian.Uint64(buf[:]))
}

// sums adds over the days of a week.
func sums(w *World) int64 {
	n := int64(0)
	for day, effect := range goods.ByDay {
		n = n*3 + int64(effect(w.Towns[day].Stock[1], int32(w.Tick%9)))
	}
	return n
}

// turns lets the caravans take turns.
func turns(w *World) int64 {
	order := make([]int, len(w.Caravans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(w.Caravans[a].Tired%5) - int(w.Caravans[b].Tired%5) })
	by := int(w.Tick) % len(order)
	order = append(order[by:], order[:by]...)
	n := int64(0)
	for _, i := range order {
		n = n*7 + int64(i)
	}
	return n
}

// print keeps the news of the latest ticks.
func (w *World) print() {
	news := make([]int32, 0, 8)
	for i := range w.Caravans {
		c := w.Caravans[i]
		c.Purse -= 100
		if c.Purse > 300 {
			news = append(news, int32(c.ID))
		}
	}
	if len(news) == 0 {
		return
	}
	w.News = append(w.News, news[0])
	if len(w.News) > 12 {
		w.News = slices.Delete(w.News, 0, 2)
	}
	w.gossip(w.News)
}

// gossip changes the list that it is given.
func (w *World) gossip(list []int32) {
	half := list[len(list)/2:]
	for i := range half {
		half[i] ^= int32(w.Tick & 3)
	}
	slices.Sort(list[:len(list)/2])
}
