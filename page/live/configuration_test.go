package live

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A configuration is text, made once for each match, and cut if it is long.
func TestConfiguration(t *testing.T) {
	game := lockstep.MustGame(minimal.Rules())
	header := func(id byte, size uint16) *lockstep.Header {
		h, err := game.NewHeader(lockstep.MatchID{id}, lockstep.DefaultSettings(2), &minimal.Config{Size: size, Coins: 5})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	var c configuration
	if text, whole := c.of(game, header(1, 50)); !whole || !strings.Contains(text, "Size: 50\n") || !strings.Contains(text, "Coins: 5\n") {
		t.Errorf("got %q, whole: %t", text, whole)
	}
	if text, _ := c.of(game, header(1, 60)); !strings.Contains(text, "Size: 50\n") {
		t.Errorf("got %q, want that it is not made again", text)
	}
	if text, _ := c.of(game, header(2, 60)); !strings.Contains(text, "Size: 60\n") {
		t.Errorf("another match: got %q", text)
	}
	c.text = c.text[:0]
	for range 3 {
		n, err := c.Write([]byte(strings.Repeat("xé", 1000)))
		if (err == nil) != (n == 3000) {
			t.Errorf("got %d bytes and error %v", n, err)
		}
	}
	if n := len(c.text); n > maxConfiguration || n < maxConfiguration-1 || strings.ToValidUTF8(string(c.text), "?") != string(c.text) {
		t.Errorf("got %d bytes, want at most %d and whole characters", n, maxConfiguration)
	}
}
