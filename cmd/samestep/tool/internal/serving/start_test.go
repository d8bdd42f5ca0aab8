//go:build unix && !solaris && !aix && !js

package serving

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

func TestParseStart(t *testing.T) {
	for text, want := range map[string]host.StartPolicy{
		"now": {}, "1": {Players: 1}, "250": {Players: 250}, "ready": {Ready: true}, "ready:2": {Ready: true, Players: 2},
	} {
		if got, err := parseStart(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "251", "-1", "ready2", "ready:", "ready:x", "now:2", "all"} {
		if got, err := parseStart(text); err == nil || !strings.Contains(err.Error(), "want now, ready, or") {
			t.Errorf("%q: got %+v, %v, want an error", text, got, err)
		}
	}
}
