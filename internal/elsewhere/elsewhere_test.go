package elsewhere_test

import (
	"os"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/elsewhere"
)

// A machine elsewhere has another hour and another home, until that is undone.
func TestElsewhere(t *testing.T) {
	seen := func() (hour int, home string) { return time.Unix(0, 0).Hour(), os.Getenv("HOME") }
	t.Setenv("HOME", "here")
	hour, _ := seen()
	back := elsewhere.Zone()
	undo, err := elsewhere.Variables()
	if err != nil {
		t.Fatal(err)
	}
	if h, home := seen(); (h-hour+24)%24 < 6 || home != "elsewhere" {
		t.Errorf("got hour %d instead of %d, and home %q", h, hour, home)
	}
	undo()
	back()
	if h, home := seen(); h != hour || home != "here" {
		t.Errorf("got hour %d and home %q after all was undone", h, home)
	}
}
