package fixed_test

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// TestRandIsPCG compares the generator with the independent one of the standard library.
func TestRandIsPCG(t *testing.T) {
	for seed := range uint64(100) {
		ours := fixed.NewRand(seed)
		theirs := rand.NewPCG(ours.Hi, ours.Lo)
		for range 100 {
			if got, want := ours.Uint64(), theirs.Uint64(); got != want {
				t.Fatalf("Uint64 = %d, want %d", got, want)
			}
		}
	}
}

// TestRandVectors checks the numbers that are part of the format of every replay.
func TestRandVectors(t *testing.T) {
	r := fixed.NewRand(1)
	got := []uint64{r.Hi, r.Lo, r.Uint64(), r.Uint64(), uint64(r.Uint32()), uint64(r.N(1000)), uint64(r.Q()),
		uint64(r.Range(-fixed.One, fixed.One)), fixed.Draw(1, 2, 3, 4, 5), uint64(fixed.DrawN(1, 2, 3, 4, 5, 1000)),
		uint64(fixed.DrawQ(1, 2, 3, 4, 5)), fixed.Draw(0, 0, 0, 0, 0)}
	want := []uint64{9834574486251888714, 12842275391071292605, 12654326325871875912, 13215582141208790131, 25068827, 347,
		1053547130, 859551469, 3218733229484288804, 174, 749419729, 2558736989570252433}
	if !slices.Equal(got, want) {
		t.Errorf("got  %d\nwant %d", got, want)
	}
	letters := []byte("abcdefghij")
	fixed.Shuffle(&r, letters)
	if got, want := string(letters), "dibahgfejc"; got != want {
		t.Errorf("shuffled %s, want %s", got, want)
	}
}

// chiSquare returns how far counts are from equal; the mean is about len(counts).
func chiSquare(counts []int) (sum float64) {
	n := 0
	for _, c := range counts {
		n += c
	}
	want := float64(n) / float64(len(counts))
	for _, c := range counts {
		sum += (float64(c) - want) * (float64(c) - want) / want
	}
	return sum
}

// TestDrawsAreEven counts draws of fixed seeds, so that it is deterministic.
func TestDrawsAreEven(t *testing.T) {
	r := fixed.NewRand(2)
	const n = 60_000
	for _, row := range []struct {
		name string
		draw func(i uint32) uint32 // 0..5
	}{
		{"N", func(uint32) uint32 { return r.N(6) }},
		{"N of 3·2^30", func(uint32) uint32 { return r.N(3<<30) / (1 << 29) }}, // a quarter is rejected
		{"Q", func(uint32) uint32 { return uint32((6 * r.Q()).Int()) }},
		{"Range", func(uint32) uint32 { return uint32(r.Range(-3*fixed.One, 3*fixed.One).Int() + 3) }},
		{"Bool", func(uint32) uint32 {
			v := uint32(0)
			for range 3 {
				v = v<<1 | map[bool]uint32{true: 1}[r.Bool()]
			}
			if v >= 6 {
				v = r.N(6)
			}
			return v
		}},
		{"Pick", func(uint32) uint32 { return fixed.Pick(&r, []uint32{0, 1, 2, 3, 4, 5}) }},
		{"Shuffle", func(uint32) uint32 {
			s := []uint32{0, 1, 2}
			fixed.Shuffle(&r, s)
			return s[0]*2 + map[bool]uint32{true: 1}[s[1] < s[2]]
		}},
		{"DrawN by entity", func(i uint32) uint32 { return fixed.DrawN(7, i, 1, 2, 3, 6) }},
		{"DrawN by tick", func(i uint32) uint32 { return fixed.DrawN(7, 1, i, 2, 3, 6) }},
		{"DrawN by purpose", func(i uint32) uint32 { return fixed.DrawN(7, 1, 2, i, 3, 6) }},
		{"DrawN by n", func(i uint32) uint32 { return fixed.DrawN(7, 1, 2, 3, i, 6) }},
		{"DrawN by seed", func(i uint32) uint32 { return fixed.DrawN(uint64(i), 1, 2, 3, 4, 6) }},
		{"DrawQ", func(i uint32) uint32 { return uint32((6 * fixed.DrawQ(8, i, 9, 0, 0)).Int()) }},
	} {
		counts := make([]int, 6)
		for i := range uint32(n) {
			counts[row.draw(i)]++
		}
		if chi := chiSquare(counts); chi > 20.5 { // one in a thousand, for 5 degrees of freedom
			t.Errorf("%s: %v, chi-square %.1f, want at most 20.5", row.name, counts, chi)
		}
	}
}

// TestDrawBits: changing one bit of any argument changes each bit of the result half of the time.
func TestDrawBits(t *testing.T) {
	r := fixed.NewRand(4)
	const n = 400
	for bit := range 64 + 4*32 {
		var flips [64]int
		for range n {
			seed, a := r.Uint64(), [4]uint32{r.N(5000), r.N(100_000), r.N(10), r.N(4)}
			before := fixed.Draw(seed, a[0], a[1], a[2], a[3])
			if bit < 64 {
				seed ^= 1 << bit
			} else {
				a[(bit-64)/32] ^= 1 << (bit % 32)
			}
			changed := before ^ fixed.Draw(seed, a[0], a[1], a[2], a[3])
			for i := range flips {
				flips[i] += int(changed >> i & 1)
			}
		}
		for i, f := range flips {
			if f < n/2-n/8 || f > n/2+n/8 { // 5 standard deviations
				t.Errorf("bit %d of the arguments flips bit %d of the draw %d times of %d", bit, i, f, n)
			}
		}
	}
}

// TestDrawsTo counts single draws, and rejects states that no draw leads to.
func TestDrawsTo(t *testing.T) {
	from := fixed.NewRand(5)
	r := from
	for want := range uint64(5000) {
		if got, ok := from.DrawsTo(r); !ok || got != want {
			t.Fatalf("DrawsTo after %d draws = %d, %v", want, got, ok)
		}
		if got, ok := r.DrawsTo(from); ok && want > 0 {
			t.Fatalf("DrawsTo back over %d draws = %d, want none", want, got)
		}
		r.Uint32()
	}
	for bit := range 128 {
		altered := r
		if bit < 64 {
			altered.Lo ^= 1 << bit
		} else {
			altered.Hi ^= 1 << (bit - 64)
		}
		if got, ok := from.DrawsTo(altered); ok {
			t.Errorf("with bit %d inverted, DrawsTo = %d, want none", bit, got)
		}
	}
}

func TestRandEnds(t *testing.T) {
	r := fixed.NewRand(1)
	if got := r.N(0); got != 0 {
		t.Errorf("N(0) = %d, want 0", got)
	}
	if got := r.N(1); got != 0 {
		t.Errorf("N(1) = %d, want 0", got)
	}
	if got := fixed.DrawN(1, 2, 3, 4, 5, 0); got != 0 {
		t.Errorf("DrawN of bound 0 = %d, want 0", got)
	}
	if got := r.Range(5, 5); got != 5 {
		t.Errorf("Range(5, 5) = %d, want 5", got)
	}
	if got := r.Range(7, 5); got != 7 {
		t.Errorf("Range(7, 5) = %d, want 7", got)
	}
	if got := fixed.Pick(&r, []string{}); got != "" {
		t.Errorf("Pick of nothing = %q, want nothing", got)
	}
	for range 1000 {
		if got := r.Range(fixed.MinQ, fixed.MaxQ); got == fixed.MaxQ {
			t.Errorf("Range(MinQ, MaxQ) = %d", got)
		}
		if got := r.Q(); got < 0 || got >= fixed.One {
			t.Errorf("Q = %d, want 0..One-1", got)
		}
	}
	var zero fixed.Rand
	if first := zero.Uint64(); first == zero.Uint64() {
		t.Error("the zero generator repeats itself")
	}
}

// TestStreams compares named streams with the hash and the generator of the standard library, and pins two of them, which
// are part of the format of replays.
func TestStreams(t *testing.T) {
	seen := map[fixed.Rand]string{fixed.NewRand(7): "NewRand"}
	for _, name := range []string{"", "loot", "weather", "toot", "l\x00oot", "лес"} {
		h := fnv.New64a()
		h.Write([]byte(name))
		got, want := fixed.NewStream(7, name), fixed.NewRand(fixed.Mix(7+fixed.Golden)^h.Sum64())
		if got != want {
			t.Errorf("stream %q is %v, want %v", name, got, want)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("streams %q and %q are one", name, other)
		}
		seen[got] = name
		if fixed.NewStream(8, name) == got {
			t.Errorf("stream %q does not depend on the seed", name)
		}
	}
	loot, weather := fixed.NewStream(1, "loot"), fixed.NewStream(1, "weather")
	if a, b := loot.Uint64(), weather.Uint64(); a != 12730402751985030304 || b != 2314394919977825617 {
		t.Errorf("got %d and %d", a, b)
	}
}
