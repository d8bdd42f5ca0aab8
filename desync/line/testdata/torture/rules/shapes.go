package rules

import "example.com/sky"

type walker interface{ walk(by int64) int64 }

type flyer interface {
	walker
	fly(by int64) int64
}

type legs struct{ n int64 }

func (l *legs) walk(by int64) int64 {
	l.n += by
	return l.n
}

type bird struct {
	*legs
	walker
	up int64
}

func (b bird) fly(by int64) int64 { return b.up + b.walker.walk(by) }

func (b bird) walk(by int64) int64 { return b.legs.walk(by) + 1 }

func embedded(w *World) int64 {
	var f flyer = bird{&legs{1}, &legs{2}, int64(w.Tick)}
	n := f.fly(3) + f.walk(4)
	switch f := f.(type) {
	case bird:
		n += f.n
	}
	return n + sky.Cloud(n)
}

type flag bool

// shadows hides the names that probes could need.
func shadows(w *World) int64 {
	nil, true, len, any := int64(1), int64(w.Tick), int64(3), int64(4)
	string := nil + true
	{
		nil := string * len
		any += nil
		string, any = any, string
	}
	w.at(0).Hops++
	var even flag = w.Tick%2 == 0
	if w := int64(w.Tick); even {
		nil += w
	}
	return nil + string - any
}

var (
	first  = second + 1
	second = third()
	late   int64
)

var handlers = map[string]func(*World) int64{}

func third() int64 { return int64(len(table)) }

var table = [...]int32{4: 1}

func init() {
	handlers["late"] = func(w *World) int64 {
		n := first * int64(w.Tick)
		return n + second
	}
	late = 40
}

const (
	small = 1 << iota
	big
)

func constants(w *World) int64 {
	var shift uint64 = 1 << (w.Tick % 60)
	var byteWide uint8 = 200 + 1<<(w.Tick%3)
	return int64(shift>>58) + int64(byteWide) + wide(1<<(w.Tick%9)) + small*big
}

func wide(n uint64) int64 { return int64(n) }
