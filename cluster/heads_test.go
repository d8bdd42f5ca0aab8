package cluster_test

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A server says again and again how far the log of its match is, which is never more than the log has. When the match is over, nothing of
// that stays.
func TestHeads(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	m := a.create(t, "duel")
	var id lockstep.MatchID
	if _, err := hex.Decode(id[:], []byte(m.Status().Match)); err != nil {
		t.Fatal(err)
	}
	ada := join(t, "ada-ada-ada-ada-ada", "duel", a)
	var heads []storage.Head
	await(t, "two heads with ticks", func() bool {
		h, err := a.conn.Head(t.Context(), id)
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			t.Fatal(err)
		}
		last, _, lastErr := a.conn.Last(t.Context(), id)
		if err == nil && (lastErr != nil || h.Sequence == 0 || h.Sequence > last) {
			t.Fatalf("got the head %+v, and the log ends at %d, %v", h, last, lastErr)
		}
		if h.Tick > 0 && (len(heads) == 0 || h != heads[len(heads)-1]) {
			heads = append(heads, h)
		}
		return len(heads) >= 2
	})
	if heads[1].Sequence <= heads[0].Sequence || heads[1].Tick <= heads[0].Tick || heads[1].Tick > ada.now()+40 {
		t.Errorf("got the heads %+v, and the player is at tick %d", heads, ada.now())
	}
	if err := m.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	await(t, "the head is removed", func() bool {
		_, err := a.conn.Head(t.Context(), id)
		return errors.Is(err, jetstream.ErrMsgNotFound)
	})
}
