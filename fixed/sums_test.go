package fixed_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

var update = flag.Bool("update", false, "rewrite tables_data.go or testdata/sums.txt: only where results are meant to change, for replays change too")

// summed is every function whose bits a replay depends on; x, y and z are inputs of every magnitude.
var summed = []struct {
	name string
	f    func(x, y, z fixed.Q) fixed.Q
}{
	{"Add", func(x, y, _ fixed.Q) fixed.Q { return x.Add(y) }},
	{"Sub", func(x, y, _ fixed.Q) fixed.Q { return x.Sub(y) }},
	{"Mul", func(x, y, _ fixed.Q) fixed.Q { return x.Mul(y) }},
	{"MulWrap", func(x, y, _ fixed.Q) fixed.Q { return x.MulWrap(y) }},
	{"Div", func(x, y, _ fixed.Q) fixed.Q { return x.Div(y) }},
	{"Mod", func(x, y, _ fixed.Q) fixed.Q { return x.Mod(y) }},
	{"MulDiv", fixed.MulDiv},
	{"Lerp", fixed.Lerp},
	{"Round", func(x, _, _ fixed.Q) fixed.Q { return x.Round() ^ x.Floor() ^ x.Ceil()<<1 }},
	{"Sqrt", func(x, _, _ fixed.Q) fixed.Q { return x.Sqrt() }},
	{"RSqrt", func(x, _, _ fixed.Q) fixed.Q { return fixed.RSqrt(x) }},
	{"Hypot", func(x, y, _ fixed.Q) fixed.Q { return fixed.Hypot(x, y) }},
	{"ISqrt128", func(x, y, _ fixed.Q) fixed.Q { return fixed.Q(fixed.ISqrt128(uint64(x), uint64(y))) }},
	{"Sin", func(x, _, _ fixed.Q) fixed.Q { return fixed.Turn(x).Sin() }},
	{"Cos", func(x, _, _ fixed.Q) fixed.Q { return fixed.Turn(x).Cos() }},
	{"SinCos", func(x, _, _ fixed.Q) fixed.Q { s, c := fixed.Turn(x).SinCos(); return s ^ c<<20 }},
	{"Tan", func(x, _, _ fixed.Q) fixed.Q { return fixed.Turn(x).Tan() }},
	{"SinRadians", func(x, _, _ fixed.Q) fixed.Q { return fixed.SinRadians(x) }},
	{"CosRadians", func(x, _, _ fixed.Q) fixed.Q { return fixed.CosRadians(x) }},
	{"Atan2", func(x, y, _ fixed.Q) fixed.Q { return fixed.Q(fixed.Atan2(y, x)) }},
	{"Atan2Radians", func(x, y, _ fixed.Q) fixed.Q { return fixed.Atan2Radians(y, x) }},
	{"Asin", func(x, _, _ fixed.Q) fixed.Q { return fixed.Q(fixed.Asin(x % fixed.One)) }},
	{"Acos", func(x, _, _ fixed.Q) fixed.Q { return fixed.Q(fixed.Acos(x % fixed.One)) }},
	{"Exp2", func(x, _, _ fixed.Q) fixed.Q { return fixed.Exp2(x % (33 * fixed.One)) }},
	{"Exp", func(x, _, _ fixed.Q) fixed.Q { return fixed.Exp(x % (22 * fixed.One)) }},
	{"Log2", func(x, _, _ fixed.Q) fixed.Q { return fixed.Log2(x) }},
	{"Log", func(x, _, _ fixed.Q) fixed.Q { return fixed.Log(x) }},
	{"Pow", func(x, y, _ fixed.Q) fixed.Q { return fixed.Pow(x.Abs(), y%(8*fixed.One)) }},
	{"Normalize", func(x, y, _ fixed.Q) fixed.Q { return fold(fixed.Vec2{X: x, Y: y}.Normalize()) }},
	{"ClampLen", func(x, y, z fixed.Q) fixed.Q { return fold(fixed.Vec2{X: x, Y: y}.ClampLen(z)) }},
	{"MoveToward", func(x, y, z fixed.Q) fixed.Q {
		return fold(fixed.Vec2{X: x, Y: y}.MoveToward(fixed.Vec2{X: y, Y: z}, z))
	}},
	{"Rotate", func(x, y, z fixed.Q) fixed.Q { return fold(fixed.Vec2{X: x, Y: y}.Rotate(fixed.Turn(z))) }},
	{"Dot", func(x, y, z fixed.Q) fixed.Q { return fixed.Vec2{X: x, Y: y}.Dot(fixed.Vec2{X: z, Y: x}) }},
	{"Cross", func(x, y, z fixed.Q) fixed.Q { return fixed.Vec2{X: x, Y: y}.Cross(fixed.Vec2{X: z, Y: x}) }},
	{"InRange", func(x, y, z fixed.Q) fixed.Q {
		if (fixed.Vec2{X: x, Y: y}).InRange(fixed.Vec2{X: y, Y: z}, z) {
			return 1
		}
		return 0
	}},
	{"Draw", func(x, y, z fixed.Q) fixed.Q {
		return fixed.Q(fixed.Draw(uint64(x), uint32(y), uint32(z), uint32(y>>32), uint32(z>>32)))
	}},
}

func fold(v fixed.Vec2) fixed.Q { return v.X ^ v.Y<<1 ^ v.Y>>63 }

// TestSums compares one hash for each function, over 500,000 inputs, with the file that every architecture shares. Inputs
// come from the generator, so that this also fails where that differs.
func TestSums(t *testing.T) {
	skipOverflowBuild(t)
	const n = 500_000
	xs, ys, zs := inputs(101, n), inputs(102, n), inputs(103, n)
	r := fixed.NewRand(104) // pair the edges with each other, not only with themselves
	fixed.Shuffle(&r, ys[:2*len(edges)])
	fixed.Shuffle(&r, zs[:2*len(edges)])
	var got strings.Builder
	for _, s := range summed {
		sum := fnv.New64a()
		var word [8]byte
		for i := range n {
			v := uint64(s.f(xs[i], ys[i], zs[i]))
			for k := range word {
				word[k] = byte(v >> (8 * k))
			}
			sum.Write(word[:])
		}
		fmt.Fprintf(&got, "%s %016x\n", s.name, sum.Sum64())
	}
	path := filepath.Join("testdata", "sums.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(gotLines) != len(wantLines) {
		t.Fatalf("%d functions, want %d", len(gotLines)-1, len(wantLines)-1)
	}
	for i := range gotLines {
		if gotLines[i] != wantLines[i] {
			t.Errorf("%s, want %s", gotLines[i], wantLines[i])
		}
	}
}
