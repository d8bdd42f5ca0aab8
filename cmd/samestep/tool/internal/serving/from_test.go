//go:build unix && !solaris && !aix && !js

package serving

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/replay"
)

// A place in a replay is a tick, a time or its end; a name may have an @ of its own.
func TestParseOriginName(t *testing.T) {
	for text, want := range map[string]originName{
		"a.ssr":         {replay: "a.ssr", tick: replay.WholeMatch},
		"a.ssr@1200":    {replay: "a.ssr", tick: 1200},
		"a.ssr@0":       {replay: "a.ssr"},
		"a.ssr@20m":     {replay: "a.ssr", time: 20 * time.Minute},
		"a.ssr@1m30s":   {replay: "a.ssr", time: 90 * time.Second},
		"me@home.ssr@7": {replay: "me@home.ssr", tick: 7},
	} {
		if got := parseOriginName(text); got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
	for text, after := range map[string]string{
		"me@home.ssr": "home.ssr", "a.ssr@4294967295": "4294967295", "a.ssr@-1s": "-1s", "a.ssr@": "", "a.ssr@abc": "abc",
	} {
		got := parseOriginName(text)
		if got.replay != text || got.tick != replay.WholeMatch || got.wrong == nil || !strings.Contains(got.wrong.Error(), fmt.Sprintf("got %q after the @", after)) {
			t.Errorf("%s: got %+v, want the whole text, and what is wrong with the place", text, got)
		}
	}
}
