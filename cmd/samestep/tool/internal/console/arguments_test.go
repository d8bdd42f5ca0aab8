//go:build !js

package console

import "testing"

func TestTakes(t *testing.T) {
	for _, c := range []struct {
		usage string
		want  string // whether 0, 1, 2 and 3 arguments are accepted
	}{
		{"", "y---"}, {"FILE", "-y--"}, {"FILE|BUNDLE", "-y--"}, {"IN OUT", "--y-"}, {"FILE [OUT]", "-yy-"}, {"[PACKAGE...]", "yyyy"},
		{"A B | BUNDLE", "-yy-"}, {"A B | A REPORTS | A --player N", "-yy-"},
	} {
		got := ""
		for n := range 4 {
			if takes(c.usage, n) {
				got += "y"
			} else {
				got += "-"
			}
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.usage, got, c.want)
		}
	}
}
