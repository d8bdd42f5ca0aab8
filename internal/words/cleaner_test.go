package words

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestCleaner(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\n", "a\tb\n"},
		{"escape", "\x1b[31mred", `\u001b[31mred`},
		{"all else below a space", "\a\b\r\x00\x7f", `\u0007\u0008\u000d\u0000\u007f`},
		{"upper control characters", "\u0080\u009b2J\u009f", `\u0080\u009b2J\u009f`},
		{"their neighbours", "\u00a0é©", "\u00a0é©"},
		{"directions", "a\u202eb\u2066c\u200f\u061c\u2069", `a\u202eb\u2066c\u200f\u061c\u2069`},
		{"their neighbours, too", "\u2013\u2028\u20ac\u2065\u206a\u0619\u061bé…\xe2\xe2\x80\xe2\x80x\u202ey", "\u2013\u2028\u20ac\u2065\u206a\u0619\u061bé…\xe2\xe2\x80\xe2\x80x" + `\u202ey`},
		{"the same first byte", "©\u009b", `©\u009b`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var whole, bytewise bytes.Buffer
			w := NewCleaner(&whole)
			if n, err := w.Write([]byte(c.in)); n != len(c.in) || err != nil {
				t.Errorf("wrote %d bytes and %v, want %d", n, err, len(c.in))
			}
			w = NewCleaner(&bytewise)
			for i := range len(c.in) {
				w.Write([]byte{c.in[i]})
			}
			if whole.String() != c.want || bytewise.String() != c.want {
				t.Errorf("got %q, byte by byte %q, want %q", whole.String(), bytewise.String(), c.want)
			}
		})
	}
}

// The replacement of a control character means the same in JSON.
func TestCleanerKeepsJSON(t *testing.T) {
	const name = "\x1b\x7f\u009b é\u202e"
	var b bytes.Buffer
	if err := json.NewEncoder(NewCleaner(&b)).Encode(name); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got != name {
		t.Errorf("got %q and %v, want %q", got, err, name)
	}
}
