package decimal_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/decimal"
)

func ExampleAppend() {
	fmt.Println(string(decimal.Append(nil, 3<<31, 32)))
	fmt.Println(string(decimal.Append(nil, -1, 16)))
	// Output:
	// 1.5
	// -0.00002
}

func ExampleParse() {
	v, err := decimal.Parse("1.5", 32)
	fmt.Println(v == 3<<31, err)
	_, err = decimal.Parse("1,5", 32)
	fmt.Println(err)
	// Output:
	// true <nil>
	// not a decimal number
}

// TestRoundTrip also looks that no shorter decimal, next to the printed one, reads back the same.
func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 60_000 {
		bits := uint8(i % 65)
		u := random.Uint64() >> random.IntN(64)
		text := string(decimal.AppendUint(nil, u, bits))
		if got, err := decimal.ParseUint(text, bits); got != u || err != nil {
			t.Fatalf("ParseUint(%s, %d) = %d, %v, want %d", text, bits, got, err, u)
		}
		if dot := strings.IndexByte(text, '.'); dot >= 0 {
			shorter := text[:len(text)-1]
			for _, s := range []string{strings.TrimSuffix(shorter, "."), increment(shorter)} {
				if got, err := decimal.ParseUint(s, bits); err == nil && got == u {
					t.Fatalf("%d with %d bits is %s, but %s would do", u, bits, text, s)
				}
			}
		}
		v := int64(u)
		if text := string(decimal.Append(nil, v, bits)); bits > 0 || v != -1<<63 {
			if got, err := decimal.Parse(text, bits); got != v || err != nil {
				t.Fatalf("Parse(%s, %d) = %d, %v, want %d", text, bits, got, err, v)
			}
		}
	}
}

// increment adds one in the last place.
func increment(s string) string {
	r, _ := new(big.Rat).SetString(strings.TrimSuffix(s, "."))
	places := max(len(s)-1-strings.IndexByte(s, '.'), 0)
	step := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
	return strings.TrimSuffix(r.Add(r, step).FloatString(places), ".")
}

func TestTies(t *testing.T) {
	for _, row := range []struct {
		text string
		bits uint8
		want int64
	}{
		{"0.5", 0, 0}, {"1.5", 0, 2}, {"2.5", 0, 2}, {"-0.5", 0, 0}, {"-1.5", 0, -2}, {"0.25", 1, 0}, {"0.75", 1, 2},
		{"0.2500000000000000000000000000000000000000000000000000000000000000000000001", 1, 1},
		{"0.99999999999999999999999", 32, 1 << 32}, {"-0", 32, 0}, {"-9223372036854775808", 0, -1 << 63},
	} {
		if got, err := decimal.Parse(row.text, row.bits); got != row.want || err != nil {
			t.Errorf("Parse(%s, %d) = %d, %v, want %d", row.text, row.bits, got, err, row.want)
		}
	}
	for _, text := range []string{"9223372036854775807.5", "9223372036854775808", "-9223372036854775809", "18446744073709551615.5"} {
		if got, err := decimal.Parse(text, 0); !errors.Is(err, decimal.ErrRange) {
			t.Errorf("Parse(%s, 0) = %d, %v, want %v", text, got, err, decimal.ErrRange)
		}
	}
}
