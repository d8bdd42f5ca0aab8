package state

import (
	"reflect"

	"github.com/cespare/xxhash/v2"
)

func portableMover(s *Schema, places []place) mover {
	e := &portableEngine{s, places}
	return mover{"portable", e.append, e.decode, e.copy, func(i int, v reflect.Value) (int, uint64) {
		d := xxhash.New()
		return e.writeSection(d, i, v), d.Sum64()
	}, func(v reflect.Value) ([]uint64, int) { return e.appendPrints(nil, v) }}
}
