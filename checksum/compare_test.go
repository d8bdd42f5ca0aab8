package checksum

import (
	"errors"
	"testing"
)

func TestCompare(t *testing.T) {
	full := Sum{9, []uint64{1, 2, 3, 4, 5}}
	for _, test := range []struct {
		name  string
		a, b  Sum
		want  string
		equal bool
	}{
		{"equal", full, full.Clone(), "", true},
		{"first section", full, Sum{8, []uint64{0, 2, 3, 4, 0}}, "section Tick: 0000000000000001 != 0000000000000000", false},
		{"last section", full, Sum{8, []uint64{1, 2, 3, 4, 6}}, "section Blue: 0000000000000005 != 0000000000000006", false},
		{"a section under an equal hash", full, Sum{9, []uint64{1, 7, 3, 4, 5}}, "section Units: 0000000000000002 != 0000000000000007", false},
		{"the hash alone", full, Sum{8, []uint64{1, 2, 3, 4, 5}}, "hash: 0000000000000009 != 0000000000000008", false},
		{"no sections, equal", full, Sum{Hash: 9}, "", true},
		{"no sections, not equal", Sum{Hash: 7}, full, "hash: 0000000000000007 != 0000000000000009", false},
		{"too many sections", full, Sum{8, []uint64{0, 0, 0, 0, 0, 0}}, "hash: 0000000000000009 != 0000000000000008", false},
	} {
		m, equal := Compare(test.a, test.b, codec.Schema())
		if equal != test.equal || !equal && m.String() != test.want {
			t.Errorf("%s: %v, equal %v, want %s, %v", test.name, m, equal, test.want, test.equal)
		}
	}
}

func TestHashText(t *testing.T) {
	for hash, text := range map[uint64]string{0: "0000000000000000", 0x0123456789abcdef: "0123456789abcdef", 1<<64 - 1: "ffffffffffffffff"} {
		got, err := ParseHash(text)
		if FormatHash(hash) != text || got != hash || err != nil {
			t.Errorf("%d: %s, parsed %d, error %v", hash, FormatHash(hash), got, err)
		}
	}
	for _, text := range []string{"", "0", "0123456789abcde", "00123456789abcdef", "0123456789ABCDEF", "0123456789abcdeg", "0x23456789abcdef", " 123456789abcdef", "-123456789abcdef"} {
		if _, err := ParseHash(text); !errors.Is(err, ErrText) {
			t.Errorf("%q: error %v, want %v", text, err, ErrText)
		}
	}
}
