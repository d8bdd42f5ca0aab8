package fixed_test

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// vectorFuncs names, for each file of testdata/vectors, the function under test and by how many units it may differ.
// The files were computed with 400 bits and rounded once, by other software.
var vectorFuncs = map[string]struct {
	off int64
	f   func(a []int64) int64
}{
	"mul":           {0, func(a []int64) int64 { return int64(fixed.Q(a[0]).Mul(fixed.Q(a[1]))) }},
	"div":           {0, func(a []int64) int64 { return int64(fixed.Q(a[0]).Div(fixed.Q(a[1]))) }},
	"sqrt":          {0, func(a []int64) int64 { return int64(fixed.Q(a[0]).Sqrt()) }},
	"hypot":         {0, func(a []int64) int64 { return int64(fixed.Hypot(fixed.Q(a[0]), fixed.Q(a[1]))) }},
	"sin":           {0, func(a []int64) int64 { return int64(fixed.Turn(a[0]).Sin()) }},
	"cos":           {0, func(a []int64) int64 { return int64(fixed.Turn(a[0]).Cos()) }},
	"sin_radians":   {0, func(a []int64) int64 { return int64(fixed.SinRadians(fixed.Q(a[0]))) }},
	"cos_radians":   {0, func(a []int64) int64 { return int64(fixed.CosRadians(fixed.Q(a[0]))) }},
	"atan2":         {0, func(a []int64) int64 { return int64(fixed.Atan2(fixed.Q(a[0]), fixed.Q(a[1]))) }},
	"atan2_radians": {0, func(a []int64) int64 { return int64(fixed.Atan2Radians(fixed.Q(a[0]), fixed.Q(a[1]))) }},
	"exp2":          {0, func(a []int64) int64 { return int64(fixed.Exp2(fixed.Q(a[0]))) }},
	"log2":          {0, func(a []int64) int64 { return int64(fixed.Log2(fixed.Q(a[0]))) }},
}

func TestVectors(t *testing.T) {
	for name, want := range vectorFuncs {
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(filepath.Join("testdata", "vectors", name+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			rows, wrong := 0, 0
			for lines := bufio.NewScanner(file); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "#") {
					continue
				}
				var numbers []int64
				for _, field := range strings.Split(lines.Text(), ",") {
					n, err := strconv.ParseInt(field, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					numbers = append(numbers, n)
				}
				rows++
				args, expected := numbers[:len(numbers)-1], numbers[len(numbers)-1]
				if fixed.PanicOnOverflow && (expected == math.MaxInt64 || expected == math.MinInt64) {
					continue // it saturates, which panics in this build
				}
				if got := want.f(args); max(got-expected, expected-got) > want.off && wrong < 5 {
					wrong++
					t.Errorf("%s%v = %d, want %d", name, args, got, expected)
				}
			}
			if rows < 100 {
				t.Errorf("%d rows, want at least 100", rows)
			}
		})
	}
}
