package tool

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A description of a tick's commands can be a thousand times as long as their bytes. Only the printed commands are
// described, and no text is longer than maxText.
func TestOnlyHere(t *testing.T) {
	s := &subject{header: &lockstep.Header{}}
	own := make([]lockstep.Command, 100)
	for i := range own {
		own[i] = lockstep.Command{Sequence: lockstep.Sequence(i + 1), Payload: make([]byte, lockstep.MaxPayload)}
	}
	for _, c := range []struct{ others, limit, texts, total int }{
		{0, 20, 20, 100}, {0, 0, 0, 100}, {0, -1, 0, 100}, {0, 1000, 100, 100}, {95, 20, 5, 5}, {100, 20, 0, 0},
	} {
		texts, total, err := onlyHere(s, own, own[:c.others], c.limit)
		if err != nil || len(texts) != c.texts || total != c.total {
			t.Errorf("%d others, limit %d: got %d of %d, %v, want %d of %d", c.others, c.limit, len(texts), total, err, c.texts, c.total)
		}
		for _, text := range texts {
			if n := len(text); n < maxText || n > maxText+8 {
				t.Errorf("got a text of %d bytes, want it cut to %d", n, maxText)
			}
		}
	}
}
