package locksteptest

import (
	"cmp"
	"math/bits"
	"reflect"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// ShrinkOptions bound the effort of [Failure.Shrink].
type ShrinkOptions struct {
	Runs  int // maximum number of matches to play, of which one of more than 200 ticks counts as several; 0 means 2,000
	Tries int // runs of a smaller match before it counts as one that does not fail, for random failures; 0 means 2
}

// Shrink looks for a small match that fails in the same way as f: in the same phase, with an error if f has one,
// otherwise at a field of the same section. It removes ticks, players and commands, and simplifies values. The result
// has all its commands in Options.Orders. If f does not happen again, Shrink returns f.
func (f *Failure) Shrink(o ShrinkOptions) *Failure {
	o.Runs = cmp.Or(o.Runs, 2000)
	o.Tries = cmp.Or(o.Tries, 2)
	s := &shrinker{want: f, limits: o, best: f.written()}
	s.best.Skip = allBut(f.Phase)
	if !s.keep(s.best) {
		return f
	}
	for size := s.size(); ; size = s.size() {
		s.focus()
		s.ticks()
		s.players()
		s.commands()
		s.values()
		if s.size() == size || s.limits.Runs <= 0 {
			break
		}
	}
	s.limits.Runs = s.limits.Tries * effort(&s.best)
	all := s.best
	all.Skip = f.Options.Skip
	s.keep(all)
	return s.found
}

// A shrinker makes the match of a failure smaller, as long as the failure stays.
type shrinker struct {
	want   *Failure
	limits ShrinkOptions // that are left
	best   Options
	found  *Failure // of best
}

// keep plays a match, and makes it the best one if it fails in the same way.
func (s *shrinker) keep(o Options) bool {
	for range s.limits.Tries {
		if s.limits.Runs <= 0 {
			return false
		}
		s.limits.Runs -= effort(&o)
		_, err := compute(s.want.game, o)
		f, ok := err.(*Failure)
		if ok && f.like(s.want) {
			s.best, s.found = f.Options, f
			return true
		}
	}
	return false
}

// effort is how many matches of 200 ticks take as long as one with the options.
func effort(o *Options) int { return 1 + (int(o.Ticks)-1)/unknown }

// like reports whether two failures count as the same.
func (f *Failure) like(g *Failure) bool {
	return f.Phase == g.Phase && (f.Err == nil) == (g.Err == nil) && section(f.Field) == section(g.Field)
}

// size returns the numbers to reduce, the most important first.
func (s *shrinker) size() [4]int {
	weight := 0
	for i := range s.best.Orders {
		weight += valueWeight(reflect.ValueOf(s.best.Orders[i].Value))
	}
	return [4]int{len(s.best.Orders), int(s.best.Ticks), int(s.best.Players), weight}
}

// focus ends the match at its failure, and saves only the state that the failure needs.
func (s *shrinker) focus() {
	o := s.best
	o.Ticks = max(s.found.Tick, 1)
	o.Orders = slices.DeleteFunc(slices.Clone(o.Orders), func(order Order) bool { return order.Tick > o.Ticks })
	s.keep(o)
	o = s.best
	o.Every = cmp.Or(s.found.From, o.Ticks)
	s.keep(o)
	o = s.best
	o.Span = o.Ticks
	s.keep(o)
}

// ticks removes ranges of ticks, long ones first. Their commands move to the next tick, or go too.
func (s *shrinker) ticks() {
	for n := s.best.Ticks / 2; n > 0; n /= 2 {
		for from := lockstep.Tick(0); from+n < s.best.Ticks; {
			if !s.keep(s.without(from, n, false)) && !s.keep(s.without(from, n, true)) {
				from += n
			}
		}
	}
}

// without returns the best match without n ticks after tick from.
func (s *shrinker) without(from, n lockstep.Tick, drop bool) Options {
	o := s.best
	o.Ticks -= n
	o.Orders = nil
	for _, order := range s.best.Orders {
		switch {
		case order.Tick > from+n:
			order.Tick -= n
		case order.Tick > from && drop:
			continue
		case order.Tick > from:
			order.Tick = from + 1
		}
		o.Orders = append(o.Orders, order)
	}
	o.Orders = append([]Order{}, o.Orders...) // not nil
	o.Every, o.Span = max(min(o.Every, o.Ticks), 1), min(o.Span, o.Ticks)
	if saved := s.found.From; saved > 0 && from < saved {
		o.Every = max(saved-min(n, saved-from), 1)
	}
	return o
}

// players removes all commands of a player, moves them to a player with a lower number, and removes seats at the end.
func (s *shrinker) players() {
	for p := range lockstep.Player(s.best.Players) {
		o := s.best
		o.Orders = slices.DeleteFunc(slices.Clone(o.Orders), func(order Order) bool { return order.Player == p })
		if len(o.Orders) < len(s.best.Orders) {
			s.keep(o)
		}
	}
	for p := lockstep.Player(1); p < lockstep.Player(s.best.Players); p++ {
		if !slices.ContainsFunc(s.best.Orders, func(order Order) bool { return order.Player == p }) {
			continue
		}
		for to := range p {
			if s.keep(s.moved(p, to)) {
				break
			}
		}
	}
	most := uint8(1)
	for i := range s.best.Orders {
		most = max(most, uint8(s.best.Orders[i].Player)+1)
	}
	for n := most; n < s.best.Players; n++ {
		o := s.best
		o.Players = n
		if s.keep(o) {
			return
		}
	}
}

// moved returns the best match with the commands of one player moved to another.
func (s *shrinker) moved(from, to lockstep.Player) Options {
	o := s.best
	o.Orders = slices.Clone(o.Orders)
	for i := range o.Orders {
		if o.Orders[i].Player == from {
			o.Orders[i].Player = to
		}
	}
	return o
}

// commands removes commands, many at a time first.
func (s *shrinker) commands() {
	for n := (len(s.best.Orders) + 1) / 2; n > 0; n /= 2 {
		for from := 0; from < len(s.best.Orders); {
			o := s.best
			o.Orders = slices.Delete(slices.Clone(o.Orders), from, min(from+n, len(o.Orders)))
			if !s.keep(o) {
				from += n
			}
		}
	}
}

// values simplifies the values in the commands and in the configuration.
func (s *shrinker) values() {
	for i := range s.best.Orders {
		s.simplify(i, s.best.Orders[i].Value)
	}
	if s.best.Config != nil {
		s.simplify(-1, s.best.Config)
	}
}

// simplify simplifies the value of order i, or the configuration if i is -1.
func (s *shrinker) simplify(i int, value any) {
	own := clone(reflect.ValueOf(value))
	simplify(own.Elem(), func() bool {
		o := s.best
		if now := clone(own).Interface(); i < 0 {
			o.Config = now
		} else {
			o.Orders = slices.Clone(o.Orders)
			o.Orders[i].Value = now
		}
		return s.keep(o)
	})
}

// simplify makes plain data simpler as long as try agrees: slices lose elements, numbers move towards zero.
func simplify(v reflect.Value, try func() bool) {
	if !v.CanSet() || v.IsZero() {
		return
	}
	attempt := func(simpler reflect.Value) bool {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		v.Set(simpler)
		if try() {
			return true
		}
		v.Set(old)
		return false
	}
	if attempt(reflect.Zero(v.Type())) {
		return
	}
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			simplify(v.Field(i), try)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			simplify(v.Index(i), try)
		}
	case v.Kind() == reflect.Slice:
		shorten(v, attempt)
		for i := range v.Len() {
			simplify(v.Index(i), try)
		}
	case v.Kind() == reflect.String:
		for n := v.Len() / 2; n > 0 && attempt(reflect.ValueOf(v.String()[:n]).Convert(v.Type())); n /= 2 {
		}
	case v.CanInt():
		towards(v.Int(), func(n int64) bool { return attempt(reflect.ValueOf(n).Convert(v.Type())) })
	case v.CanUint():
		towards(v.Uint(), func(n uint64) bool { return attempt(reflect.ValueOf(n).Convert(v.Type())) })
	}
}

// shorten removes elements of a slice, many at a time first.
func shorten(v reflect.Value, attempt func(reflect.Value) bool) {
	for n := v.Len() / 2; n > 0; n /= 2 {
		for from := 0; from < v.Len(); {
			rest := reflect.MakeSlice(v.Type(), 0, v.Len())
			rest = reflect.AppendSlice(rest, v.Slice(0, from))
			rest = reflect.AppendSlice(rest, v.Slice(min(from+n, v.Len()), v.Len()))
			if !attempt(rest) {
				from += n
			}
		}
	}
}

// towards moves n towards zero in shrinking steps.
func towards[N int64 | uint64](n N, attempt func(N) bool) {
	for step := n / 2; step != 0; {
		if attempt(n - step) {
			n -= step
			step = n / 2
		} else {
			step /= 2
		}
	}
}

// clone returns a copy of plain data that shares no memory with v.
func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c = reflect.New(v.Type().Elem())
			c.Elem().Set(clone(v.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(clone(v.Field(i)))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			c.Index(i).Set(clone(v.Index(i)))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				c.Index(i).Set(clone(v.Index(i)))
			}
		}
	}
	return c
}

// valueWeight measures how complex a value is, by its digits and elements.
func valueWeight(v reflect.Value) (weight int) {
	switch {
	case v.Kind() == reflect.Pointer:
		return valueWeight(v.Elem())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			weight += valueWeight(v.Field(i))
		}
	case v.Kind() == reflect.Array || v.Kind() == reflect.Slice:
		for i := range v.Len() {
			weight += 1 + valueWeight(v.Index(i))
		}
	case v.Kind() == reflect.String:
		return v.Len()
	case v.CanInt():
		return bits.Len64(uint64(max(v.Int(), -v.Int())))
	case v.CanUint():
		return bits.Len64(v.Uint())
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	}
	return weight
}
