package scene_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
)

// frameOf returns a frame of a map of two cells a side, with a zone, a crystal, units and effects of 6 and 5 words each.
func frameOf(units, effects [][]int32) (frame []byte) {
	words := make([]int32, scene.HeadWords)
	words[scene.HeadZones], words[scene.HeadCrystals], words[scene.HeadSize] = 1, 1, 2
	words[scene.HeadUnits], words[scene.HeadEffects] = int32(len(units)), int32(len(effects))
	words = append(words, 1024, 1024, 512, 3, 500, 600, 1000)
	for _, w := range slices.Concat(units, effects) {
		words = append(words, w...)
	}
	for _, w := range words {
		frame = binary.LittleEndian.AppendUint32(frame, uint32(w))
	}
	return frame
}

// A film has the units that live at one of its frames, where they are in these, and each effect once.
func TestFilm(t *testing.T) {
	f := scene.NewFilm(4, []byte{1, 0, 0, 1})
	const soldier, base = int32(skirmish.Soldier), int32(skirmish.Base)
	for tick := range int32(9) {
		walker := []int32{64 * tick, 2048 - 64*tick, 7, soldier | 1<<8 | (scene.Walking|scene.Fighting)<<16 | 0x47<<24, 999 - tick, 601}
		builds := []int32{1024, 1024, 8, base | 2<<8 | scene.Unbuilt<<16, 100, 100*tick | 3<<16}
		late := []int32{64, 64, 9, soldier, 1000, 600}
		short := []int32{128, 128, 10, soldier, 1000, 0}
		units := [][]int32{walker}
		if tick < 6 {
			units = append(units, builds)
		}
		if tick >= 3 {
			units = append(units, late)
		}
		if tick == 6 || tick == 7 {
			units = append(units, short)
		}
		var effects [][]int32
		if tick >= 2 && tick < 6 {
			effects = append(effects, []int32{scene.Strike | 1<<8 | (tick-2)*63<<16, 128, 256, 192, 128})
		}
		f.Add(frameOf(units, effects))
	}
	want := [][]int32{
		{4, 3, 2, 1, 1, 3, 1},
		{1, 0, 0, 1}, {1024, 1024, 512, 3, 500, 600, 1000},
		{soldier | 1<<8, base | 2<<8, soldier}, {0, 0, 3}, {9, 6, 9},
		{0, 4, 8, 16, 16, 16, 1, 1, 1}, {32, 28, 24, 16, 16, 16, 1, 1, 1},
		{scene.Fighting, scene.Fighting, scene.Fighting, scene.Unbuilt, scene.Unbuilt, scene.Unbuilt, 0, 0, 0},
		{4, 4, 4, 0, 0, 0, 0, 0, 0}, {19, 19, 19, 2, 2, 2, 20, 20, 20}, {20, 20, 20, 0, 8, 8, 0, 0, 0},
		{2}, {4}, {scene.Strike | 1<<8}, {2}, {4}, {1}, {-2},
	}
	b := f.Append(nil)
	for i, column := range want {
		before := int64(0)
		for j, v := range column {
			difference, n := binary.Varint(b)
			b, before = b[max(n, 0):], before+difference
			if n <= 0 || before != int64(v) {
				t.Fatalf("column %d, number %d: got %d, want %d", i, j, before, v)
			}
		}
	}
	if len(b) > 0 {
		t.Errorf("%d bytes are left", len(b))
	}
}
