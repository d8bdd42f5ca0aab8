package scene

import (
	"encoding/binary"
	"slices"

	"github.com/seed-49bee653/samestep/examples/skirmish"
)

// The steps of a film's numbers.
const (
	filmPlace   = 1 << PlaceBits / 16 // 1/16 of a cell
	filmHeading = 16                  // 1/16 of a turn
	filmShare   = 50                  // 1/20 of the whole
)

// hitting is the part of the time that is left to a unit's next hit, in 1/1000, above which the page shows the hit.
const hitting = 600

// A Film keeps the frames of a part of a match, small enough to be played by a page whose program has not arrived. The
// ground, the zones and the crystals do not change in it. It has the units of every few ticks, and each effect once.
//
// Its bytes are columns of numbers. A number is stored as its difference from the one before it in the column, as a varint
// (see [binary.AppendVarint]), so that a compressor finds what repeats. In this order:
//
//	about      7 numbers: ticks between two frames, frames, cells along a side of the map, zones, crystals, units, effects
//	ground     for each cell, row by row: 1 is rock
//	places     4 for each zone, 3 for each crystal: the words of the first frame
//	units      3 columns of a number for each unit: kind | owner 2^8, first tick, tick in which it is gone
//	samples    6 columns of a number for each frame of each unit, all of a unit in a row: x and y in 1/16 of a cell, flags,
//	           heading in 1/16 of a turn, health and work in 1/20 of the whole
//	effects    7 columns of a number for each: tick, ticks, sort | owner 2^8, from x, y, to x - from x, to y - from y
//
// Ticks are counted from the beginning. The flags lack those that a page sees in the samples: Walking and Hurt. Places of effects
// are in 1/16 of a cell, too. The work of a unit that is no building is the whole while it hits, and otherwise 0.
type Film struct {
	every, ticks int32
	ground       []byte
	size         int32 // cells along a side
	zones        []int32
	crystals     []int32
	units        []*filmed
	byID         map[int32]*filmed
	effects      [7][]int32
}

// filmed is a unit of a film.
type filmed struct {
	look, first, gone int32
	samples           [6][]int32
}

// NewFilm returns a Film with the units in one of every ticks. ground is that of [Ground].
func NewFilm(every int, ground []byte) *Film {
	return &Film{every: int32(every), ground: ground, byID: make(map[int32]*filmed)}
}

// Add adds the frame of the next tick. It shows the whole map, at fraction 0: otherwise the effects have no age 0 to begin with.
func (f *Film) Add(frame []byte) {
	words := make([]int32, len(frame)/4)
	for i := range words {
		words[i] = int32(binary.LittleEndian.Uint32(frame[4*i:]))
	}
	head, words := words[:HeadWords], words[HeadWords:]
	take := func(count int32) (part []int32) {
		part, words = words[:count], words[count:]
		return part
	}
	zones, crystals := take(4*head[HeadZones]), take(3*head[HeadCrystals])
	if f.ticks == 0 {
		f.size, f.zones, f.crystals = head[HeadSize], zones, crystals
	}
	for units := take(6 * head[HeadUnits]); len(units) > 0; units = units[6:] {
		f.unit(units)
	}
	for effects := take(5 * head[HeadEffects]); len(effects) > 0; effects = effects[5:] {
		if w := effects; w[0]>>16 == 0 { // it begins
			x, y := w[1]/filmPlace, w[2]/filmPlace
			for i, v := range [7]int32{f.ticks, int32(lasting[w[0]&255]), w[0], x, y, w[3]/filmPlace - x, w[4]/filmPlace - y} {
				f.effects[i] = append(f.effects[i], v)
			}
		}
	}
	f.ticks++
}

// unit adds the words of a unit.
func (f *Film) unit(w []int32) {
	u := f.byID[w[2]]
	if u == nil {
		u = &filmed{look: w[3] & 0xffff, first: f.ticks}
		f.byID[w[2]], f.units = u, append(f.units, u)
	}
	u.gone = f.ticks + 1
	if f.ticks%f.every != 0 {
		return
	}
	flags, work := w[3]>>16&(Unbuilt|Loaded|Fighting|Working), w[5]&0xffff/filmShare
	if !skirmish.UnitKind(u.look).Building() {
		work = 0
		if w[5] > hitting {
			work = 1000 / filmShare
		}
	}
	for i, v := range [6]int32{w[0] / filmPlace, w[1] / filmPlace, flags, int32(uint32(w[3])>>24) / (256 / filmHeading), w[4] / filmShare, work} {
		u.samples[i] = extend(u.samples[i], f.ticks/f.every, v)
	}
}

// extend fills a list with a value up to an index.
func extend(list []int32, index, value int32) []int32 {
	for int32(len(list)) <= index {
		list = append(list, value)
	}
	return list
}

// Append appends the film's bytes.
func (f *Film) Append(dst []byte) []byte {
	frames := (f.ticks + f.every - 1) / f.every
	var columns [2 + 3 + 6][]int32
	for _, rock := range f.ground {
		columns[0] = append(columns[0], int32(rock))
	}
	columns[1] = slices.Concat(f.zones, f.crystals)
	units := int32(0)
	for _, u := range f.units {
		if len(u.samples[0]) == 0 {
			continue // it lived for less than a frame
		}
		units++
		for i, v := range [3]int32{u.look, u.first, u.gone} {
			columns[2+i] = append(columns[2+i], v)
		}
		for i, list := range u.samples {
			columns[5+i] = append(columns[5+i], extend(list, frames-1, list[len(list)-1])...)
		}
	}
	dst = column(dst, []int32{f.every, frames, f.size, int32(len(f.zones) / 4), int32(len(f.crystals) / 3), units, int32(len(f.effects[0]))})
	for _, list := range columns {
		dst = column(dst, list)
	}
	for _, list := range f.effects {
		dst = column(dst, list)
	}
	return dst
}

// column appends numbers, each as its difference from the one before it.
func column(dst []byte, list []int32) []byte {
	before := int32(0)
	for _, v := range list {
		dst, before = binary.AppendVarint(dst, int64(v-before)), v
	}
	return dst
}
