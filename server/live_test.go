//go:build !js

package server_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A match over real sockets: two players, a late spectator, a cut connection, a corrupted state; and a replay that
// verifies.
func TestLiveMatch(t *testing.T) {
	t.Parallel()
	var complete atomic.Bool // a bundle, with the player's state
	s := newStage(t, setup{settings: func(s *lockstep.Settings) { s.TickMicros = lockstep.TickPeriod(60) }, options: server.Options{OnBundle: func(string) { complete.Store(true) }}})
	ada, bob := s.join(t, "ada-ada-ada-ada-ada", wander), s.join(t, "bob-bob-bob-bob-bob", wander)
	eventually(t, "both play", func() bool { return ada.tick() > 100 && bob.tick() > 100 })
	press := s.join(t, "press-press-press-press", nil)
	eventually(t, "the spectator is there", func() bool { return press.tick() > 120 })

	if err := bob.Cut(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "bob resumes", func() bool { return has[player.StreamResumed](bob) })

	if err := ada.Do(func(c *player.Client) {
		if err := c.Corrupt("Dots[0].Coins"); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ada heals", func() bool { return has[player.Desynced](ada) && has[player.Healed](ada) })
	eventually(t, "a bundle is written", complete.Load)
	if has[player.Desynced](bob) || has[player.Desynced](press) {
		t.Error("another player was told of a desync of its own")
	}
	for _, g := range []*testClient{bob, press} { // the state that heals ada may be later than what the log says about her
		eventually(t, "the others hear who differs", func() bool { return has[player.Mismatch](g) })
		groups := told[player.Mismatch](g)[0].Groups
		if len(groups) != 2 || !groups[0].Agreed || groups[1].Agreed || !slices.Equal(groups[1].Players, []lockstep.Player{0}) || groups[0].Hash == groups[1].Hash {
			t.Errorf("got %+v, want the agreed checksum and that of player 0", groups)
		}
	}

	if err := s.match.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	for _, g := range []*testClient{ada, bob, press} {
		if err := g.Wait(); err != nil {
			t.Errorf("a session ended with %v", err)
		}
	}
	<-s.match.Done()
	s.verify(t)
	s.readBundle(t, s.files(t, "*.zip")[0])
}

func (s *stage) verify(t *testing.T) {
	t.Helper()
	file, err := os.ReadFile(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, s.game, replay.VerifyOptions{})
	if err != nil || v.Checked < 10 || v.Commands < 10 || v.Reason != "enough" {
		t.Errorf("the replay: %v, %+v", err, v)
	}
}

func (s *stage) readBundle(t *testing.T, path string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := replay.OpenBundle(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	m := b.Manifest
	if m.Player != 0 || m.Section != "Dots" || len(m.Participants) != 2 || len(m.Exhibits) != 2 || m.Agreed >= m.Tick {
		t.Fatalf("got manifest %+v", m)
	}
	last := m.Exhibits[1]
	mine, err := b.State(last.Player)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := b.State(last.Referee)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.game.StateSchema().Diff(theirs, mine, 5)
	if err != nil || d.Total == 0 || !strings.HasPrefix(d.List[0].Path, "Dots[0]") {
		t.Errorf("the states in the bundle: %v, %+v", err, d)
	}
	if _, err := b.Replay(1 << 20); err != nil {
		t.Error(err)
	}
}
