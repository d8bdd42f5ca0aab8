package program

import (
	"testing"
	"time"
)

func TestLineTime(t *testing.T) {
	for text, want := range map[string]time.Duration{"": time.Minute, "off": 0, "5m": 5 * time.Minute, "soon": time.Minute} {
		t.Setenv("SAMESTEP_LINE", text)
		if got := LineTime(); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
