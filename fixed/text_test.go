package fixed_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

func TestText(t *testing.T) {
	for _, row := range []struct {
		x    fixed.Q
		text string
	}{
		{0, "0"}, {fixed.One, "1"}, {3 * fixed.Half, "1.5"}, {-fixed.One / 4, "-0.25"}, {1, "0.0000000002"},
		{-1, "-0.0000000002"}, {429496730, "0.1"}, {429496729, "0.0999999999"}, {fixed.One / 3, "0.3333333333"}, {12*fixed.One + fixed.Half, "12.5"},
		{fixed.MaxQ, "2147483647.9999999998"}, {fixed.MinQ, "-2147483648"}, {fixed.One - 1, "0.9999999998"},
	} {
		if got := row.x.String(); got != row.text {
			t.Errorf("String of %d = %s, want %s", row.x, got, row.text)
		}
		if got, err := fixed.Parse(row.text); got != row.x || err != nil {
			t.Errorf("Parse(%s) = %d, %v, want %d", row.text, got, err, row.x)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, row := range []struct {
		text string
		want error
	}{
		{"", fixed.ErrSyntax}, {"-", fixed.ErrSyntax}, {".5", fixed.ErrSyntax}, {"5.", fixed.ErrSyntax}, {"1e3", fixed.ErrSyntax},
		{"+1", fixed.ErrSyntax}, {"1.5x", fixed.ErrSyntax}, {"x1", fixed.ErrSyntax}, {"1..5", fixed.ErrSyntax},
		{"1.5.5", fixed.ErrSyntax}, {" 1", fixed.ErrSyntax}, {"--1", fixed.ErrSyntax}, {"99999999999999999999x", fixed.ErrSyntax},
		{"2147483648", fixed.ErrRange}, {"-2147483649", fixed.ErrRange}, {"99999999999999999999", fixed.ErrRange},
		{"2147483647.99999999999", fixed.ErrRange},
	} {
		if got, err := fixed.Parse(row.text); !errors.Is(err, row.want) || got != 0 {
			t.Errorf("Parse(%q) = %d, %v, want %v", row.text, got, err, row.want)
		}
	}
	if got, err := fixed.ParseTurn("1"); !errors.Is(err, fixed.ErrRange) {
		t.Errorf("ParseTurn(1) = %d, %v, want %v", got, err, fixed.ErrRange)
	}
}

func TestTextRoundTrip(t *testing.T) {
	for _, x := range inputs(61, 100_000) {
		if got, err := fixed.Parse(x.String()); got != x || err != nil {
			t.Fatalf("Parse(%s) = %d, %v, want %d", x, got, err, x)
		}
		turn := fixed.Turn(x)
		if got, err := fixed.ParseTurn(turn.String()); got != turn || err != nil {
			t.Fatalf("ParseTurn(%s) = %d, %v, want %d", turn, got, err, turn)
		}
	}
}

func TestJSON(t *testing.T) {
	type state struct {
		X       fixed.Q
		Heading fixed.Turn
		Scores  map[fixed.Q]int
	}
	want := state{-fixed.One / 4, fixed.QuarterTurn, map[fixed.Q]int{fixed.Half: 7}}
	text, err := json.Marshal(want)
	if expected := `{"X":-0.25,"Heading":0.25,"Scores":{"0.5":7}}`; string(text) != expected || err != nil {
		t.Fatalf("Marshal = %s, %v, want %s", text, err, expected)
	}
	var got state
	if err := json.Unmarshal(text, &got); err != nil || got.X != want.X || got.Heading != want.Heading || got.Scores[fixed.Half] != 7 {
		t.Errorf("Unmarshal = %v, %v, want %v", got, err, want)
	}
	got = state{X: 5, Heading: 6}
	if err := json.Unmarshal([]byte(`{"X":"1.5","Heading":"0.5"}`), &got); err != nil || got.X != 3*fixed.Half || got.Heading != fixed.HalfTurn {
		t.Errorf("Unmarshal of strings = %v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"X":null,"Heading":null}`), &got); err != nil || got.X != 3*fixed.Half || got.Heading != fixed.HalfTurn {
		t.Errorf("Unmarshal of null = %v, %v, want no change", got, err)
	}
	for _, bad := range []string{`{"X":1e3}`, `{"X":true}`, `{"X":"\""}`, `{"Heading":1.5}`, `{"Heading":-0.5}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("Unmarshal(%s) took it", bad)
		}
	}
}

// FuzzParse: accepted text gives the nearest number, ties to even, and the printed number parses back the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "1.5", "-0.25", "2147483647.9999999999", "0.00000000011641532182693481445312", "-0",
		"0.00000000011641532182693481445313", "1e5", ".", "00012.5000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := fixed.Parse(s)
		exact, ok := new(big.Rat).SetString(s)
		if err != nil {
			if errors.Is(err, fixed.ErrRange) {
				exact.Mul(exact, new(big.Rat).SetInt(two32))
				if n := quotient(exact.Num(), exact.Denom()); n != fixed.MaxQ && n != fixed.MinQ {
					t.Errorf("Parse(%q) = %v, want %d", s, err, n)
				}
			}
			return
		}
		if !ok {
			t.Fatalf("Parse took %q, math/big does not", s)
		}
		exact.Mul(exact, new(big.Rat).SetInt(two32))
		if want := quotient(exact.Num(), exact.Denom()); x != want {
			t.Errorf("Parse(%q) = %d, want %d", s, x, want)
		}
		if got, err := fixed.Parse(x.String()); got != x || err != nil {
			t.Errorf("Parse(%s) = %d, %v, want %d", x, got, err, x)
		}
	})
}
