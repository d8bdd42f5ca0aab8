package goods

import "slices"

// fees are taken in the order in which they were announced.
var fees []Fee

// A Fee is a part of a price.
type Fee struct {
	Name string
	Take func(price int32) int32
}

func announce(name string, take func(int32) int32) { fees = append(fees, Fee{name, take}) }

func init() {
	announce("share", func(p int32) int32 { return p * 9 / 10 })
	announce("coin", func(p int32) int32 { return p - 1 })
}

func init() {
	announce("round", func(p int32) int32 { return p &^ 1 })
}

// Net returns a price after all fees.
func Net(price int32) int32 {
	for _, f := range fees {
		price = f.Take(price)
	}
	return price
}

var (
	base   = scale * 3
	scale  = season(2)
	limits = []int32{10, base, base * 4}
)

func season(n int32) int32 { return n*2 + 1 }

// Limit returns the largest load of a class of caravans.
func Limit(class int) int32 { return limits[class%len(limits)] }

var ranks = map[string]int32{"salt": 2, "silk": 5, "iron": 1, "dates": 3, "amber": 4}

// Ranked returns the goods by rank.
func Ranked() []string {
	var all []string
	for name := range ranks {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int { return int(ranks[a] - ranks[b]) })
	return all
}

// Board takes notices, as many as it has room for.
var Board = make(chan int32, 3)

// Post puts a notice on the board, if there is room.
func Post(n int32) bool {
	select {
	case Board <- n:
		return true
	default:
		return false
	}
}

// Season is the factor of a season.
var Season [4]int32

func init() {
	for i := range Season {
		Season[i] = int32(i)*2 + 7
	}
	Season[0], Season[3] = Season[3], Season[0]
}
