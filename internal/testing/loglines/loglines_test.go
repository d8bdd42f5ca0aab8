package loglines_test

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/loglines"
)

// Lines without what they must have are found, and no others.
func TestProblems(t *testing.T) {
	const match, session = " match=duel id=17f2cd69ac2f0413b203b6369bf23540", " session=57413496a5158533"
	for line, good := range map[string]bool{
		"level=INFO msg=match" + match + session + " tick=3 peer=1 address=1.2.3.4":                true,
		"level=INFO msg=match" + match + " tick=3 peer=0":                                          true,
		"level=INFO msg=storage free=3":                                                            true,
		"level=INFO msg=admin action=\"POST /matches/duel/kick\" status=200" + match + " address=": true,
		"level=INFO msg=admin action=\"POST /matches/none/kick\" status=404 match=none address=":   true,
		"goroutine 7 [running]: /live/duel-17f2cd69.ssr":                                           true,
		"level=INFO msg=match" + match + " tick=3 peer=1":                                          false,
		"level=WARN msg=\"turned away\"" + match + " address=1.2.3.4":                              false,
		"level=INFO msg=match match=duel tick=3":                                                   false,
		"level=INFO msg=match match=duel id=17f2cd69 tick=3":                                       false,
		"level=ERROR msg=replay path=/x/live/duel-17f2cd69.ssr":                                    false,
		"level=INFO msg=admin action=\"POST /matches/duel/kick\" status=200":                       false,
		"level=WARN msg=panic tick=3":                                                              false,
	} {
		if got := loglines.Problems("time=1 " + line + "\n"); (len(got) == 0) != good {
			t.Errorf("%s: got %q", line, got)
		}
	}
	if got := loglines.Problems(" level=INFO tick=1\n level=INFO free=1\n level=INFO tick=2"); len(got) != 2 || slices.Contains(got, "") {
		t.Errorf("got %q, want the first and the third line", got)
	}
}
