package rules

import (
	"cmp"
	"slices"

	"example.com/caravan/goods"
)

// arrive sells what a caravan has.
func (w *World) arrive(c *Caravan, t *Town) {
	days := int32(w.Tick - c.Left)
	before := t.Price
	for i := range c.Loads {
		l := &c.Loads[i]
		l.Count = goods.Arrive(int(l.Good), l.Count, days)
		price := goods.Net(t.Price[l.Good])
		pay(&t.Cash, &c.Purse, int64(price)*int64(l.Count))
		t.Stock[l.Good] += l.Count
		t.Price[l.Good] = max(t.Price[l.Good]-l.Count/4, 1)
	}
	c.Loads = slices.DeleteFunc(c.Loads, func(l Load) bool { return l.Paid < before[l.Good] || l.Count == 0 })
	if len(c.Loads) > 3 {
		c.Loads = c.Loads[len(c.Loads)-3:]
	}
	t.note(int32(c.ID))
	t.haggle()
}

// note keeps the latest visitors.
func (t *Town) note(id int32) {
	if len(t.Recent) < 5 {
		t.Recent = append(t.Recent, 0)
	}
	copy(t.Recent[1:], t.Recent)
	t.Recent[0] = id
	if t.Mood%3 == 1 {
		slices.Reverse(t.Recent[1:])
	}
}

// haggle moves prices to what the stock makes of them.
func (t *Town) haggle() {
	for g := range t.Price {
		want := goods.Table[g].Cost * 20 / max(t.Stock[g], 1)
		switch d := want - t.Price[g]; {
		case d > 9:
			t.Price[g] += 3
			fallthrough
		case d > 0:
			t.Price[g]++
		case d < 0:
			t.Price[g]--
		}
	}
}

// An offer is a good that a caravan may buy.
type offer struct {
	good  int
	gain  int32
	count int32
}

// buy loads a caravan.
func (w *World) buy(c *Caravan, t *Town) {
	var offers []offer
	for g := range t.Stock {
		o := offer{good: g, gain: goods.Table[g].Cost - t.Price[g], count: min(t.Stock[g]/2, goods.Limit(int(c.ID)))}
		if o.count > 0 {
			offers = append(offers, o)
		}
	}
	slices.SortFunc(offers, func(a, b offer) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.good, b.good))
	})
	offers = offers[:min(len(offers), 2)]
	weight := int32(0)
	for _, o := range offers {
		if weight += o.count * goods.Table[o.good].Weight; weight > 90 {
			break
		}
		w.load(c, t, o)
	}
	if t.Cash < 0 {
		pay(&c.Purse, &t.Cash, min(c.Purse/8, 50))
	}
}

// load moves goods of an offer.
func (w *World) load(c *Caravan, t *Town, o offer) {
	price := t.Price[o.good]
	if int64(price)*int64(o.count) > c.Purse {
		return
	}
	pay(&c.Purse, &t.Cash, int64(price)*int64(o.count))
	t.Stock[o.good] -= o.count
	c.Loads = append(c.Loads, Load{uint8(o.good), o.count, price})
	w.stamp(c)
}

// stamp notes who traded.
func (w *World) stamp(c *Caravan) {
	s := w.Stamp
	s.By, s.Where = c.ID, c.At
	s.Count++
	w.Stamp = s
}
