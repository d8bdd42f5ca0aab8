package words

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWrapped(t *testing.T) {
	long := strings.Repeat("0123456789", 9)
	for _, c := range []struct{ name, in, want string }{
		{"short", "verdict    THE PLAYER", "verdict    THE PLAYER"},
		{"just fits", "verdict    " + long[:69], "verdict    " + long[:69]},
		{"at a space", "verdict    " + long[:60] + " and more words", "verdict    " + long[:60] + " and more\n             words"},
		{"deeper", "               " + long[:60] + " and more", "               " + long[:60] + " and\n                 more"},
		{"a long word", "file       " + long, "file       " + long[:69] + "\n             " + long[69:]},
		{"after a word", "file       a " + long[:69], "file       a\n             " + long[:67] + "\n             " + long[67:69]},
		{"two lines", "source     a\nb", "source     a\n             b"},
		{"a tab", "source     a\tb", "source     a    b"},
		{"no name", "abc", "abc"},
		{"nothing", "", ""},
	} {
		if got := Wrapped(c.in); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// No part is wider than the page, and no character is lost, whatever the line has.
func FuzzWrapped(f *testing.F) {
	f.Add("verdict    Ünïts→" + strings.Repeat("→ü ", 50))
	f.Add(strings.Repeat(" ", 200) + "x")
	f.Add("x" + strings.Repeat("\n\xff", 90))
	f.Fuzz(func(t *testing.T, line string) {
		got := Wrapped(line)
		for _, part := range strings.Split(got, "\n") {
			if n := utf8.RuneCountInString(part); n > Width {
				t.Errorf("%q has %d columns", part, n)
			}
		}
		squeeze := strings.NewReplacer(" ", "", "\n", "", "\t", "")
		if squeeze.Replace(got) != squeeze.Replace(line) {
			t.Errorf("got %q of %q", got, line)
		}
	})
}
