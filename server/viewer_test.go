//go:build !js

package server_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
)

// A map is what a player of the minimal game sees: all dots, and the coins that are near its own.
type mapped struct {
	Mine  uint8
	Dots  []dot
	Coins []coin
	Both  [2]bool
	Deep  struct{ Far int64 }
}

type dot struct {
	At    fixed.Vec2 `feed:"quantize=1/16"`
	Coins uint32
}

type coin struct {
	ID int16      `feed:"id"`
	At fixed.Vec2 `feed:"quantize=1/4"`
}

func seeMap(w *minimal.World, _ *minimal.Config, viewer lockstep.Viewer, v *mapped) error {
	*v = mapped{Mine: viewer.Number, Dots: v.Dots[:0], Coins: v.Coins[:0]}
	for i := range w.Dots {
		v.Dots = append(v.Dots, dot{w.Dots[i].At, w.Dots[i].Coins})
	}
	for i, c := range w.Coins {
		if c.InRange(w.Dots[viewer.Number].At, 8*fixed.One) {
			v.Coins = append(v.Coins, coin{int16(i) - 100, c})
		}
	}
	v.Both[1] = len(v.Coins) > 3
	v.Deep.Far = int64(w.Dots[0].At.X) - int64(w.Dots[1].At.X)
	return nil
}

// docs/spec/views.md is enough to see a match in another language, without knowing the game: this viewer gets the same views as ours.
func TestViewerInAnotherLanguage(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	testenv.Or(t, "python3", err)
	s := newStage(t, setup{
		host: host.Options{Views: host.ViewPolicy{Every: 1}},
		rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
			r.Validate, r.View = nil, lockstep.View(seeMap, nil)
		},
	})
	b := s.join(t, bob, wander)
	<-b.Ready()
	out, err := exec.CommandContext(t.Context(), python, "-B", "testdata/viewer.py", s.host, "duel", "ada-ada-ada-ada-ada", "3").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got struct {
		Viewer              string
		Tick                lockstep.Tick
		Views, Notes, Begun int
		View                struct {
			Mine  uint8
			Dots  []map[string]int64
			Coins []map[string]int64
			Far   int64 `json:"Deep.Far"`
			Both  []map[string]bool
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.Viewer != "player:0" || got.Views < 30 || got.Notes < 2 || got.Begun != 1 || len(got.View.Dots) != 2 {
		t.Fatalf("got %s", out)
	}
	want := s.viewAt(t, got.Tick)
	for i, d := range want.Dots {
		if x, y := got.View.Dots[i]["At.X"], got.View.Dots[i]["At.Y"]; near(x, d.At.X, 16) || near(y, d.At.Y, 16) || got.View.Dots[i]["Coins"] != int64(d.Coins) {
			t.Errorf("dot %d: got %v, want %v", i, got.View.Dots[i], d)
		}
	}
	if len(got.View.Coins) != len(want.Coins) || len(want.Coins) == 0 || got.View.Far != want.Deep.Far || len(got.View.Both) != 2 || got.View.Both[1][""] != want.Both[1] {
		t.Fatalf("got %s, want %+v", out, want)
	}
	for i, c := range want.Coins {
		if d := got.View.Coins[i]; d["ID"] != int64(c.ID) || near(d["At.X"], c.At.X, 4) {
			t.Errorf("coin %d: got %v, want %v", i, d, c)
		}
	}
}

// near reports whether a number is not the nearest multiple of one in steps.
func near(got int64, want fixed.Q, steps fixed.Q) bool {
	step := fixed.One / steps
	return fixed.Q(got)%step != 0 || max(fixed.Q(got)-want, want-fixed.Q(got)) > step/2
}

// viewAt returns the first player's view of a tick, of the match's replay.
func (s *stage) viewAt(t *testing.T, tick lockstep.Tick) (v mapped) {
	t.Helper()
	s.stop()
	f, err := replay.Open(s.files(t, "*.ssr")[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.NewCursor(r, s.game, 0)
	for err == nil && c.Tick() < tick {
		err = c.Step()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Simulation().AppendView(nil, lockstep.Viewer{As: lockstep.AsPlayer})
	if err == nil {
		err = lockstep.DecodeView(s.game, b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A match that is sent as views only shows nobody its seed, from which what is hidden could be computed.
func TestViewsOnly(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{
		host: host.Options{Views: host.ViewPolicy{Only: true}},
		rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
			r.Validate, r.View = nil, lockstep.View(seeMap, nil)
		},
	})
	for _, path := range []string{"/matches", "/matches/duel"} {
		_, text := s.get(t, http.MethodGet, path)
		if !strings.Contains(text, `"players_see":"views"`) || !strings.Contains(text, `"seed":"0"`) || strings.Contains(text, `"seed":"1"`) {
			t.Errorf("%s: got %s", path, text)
		}
	}
	full := s.join(t, bob, wander)
	if err := full.Wait(); err == nil || !strings.Contains(err.Error(), "this match is sent as views") {
		t.Errorf("a client that asks for the match: %v", err)
	}
}

// Of two orders in a tick the rules refuse the second. A player who sees views only has no rules that say so: the server tells this player, and
// no other one.
func TestViewerHearsRefusal(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{
		host: host.Options{Views: host.ViewPolicy{Only: true, Every: 1}},
		rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
			r.Validate, r.View = nil, lockstep.View(seeMap, nil)
			step := r.Step
			r.Step = func(w *minimal.World, config *minimal.Config, turn *lockstep.Turn) {
				before := lockstep.System
				for i := range turn.Commands {
					c := &turn.Commands[i]
					if _, ok := c.Value.(*minimal.Go); ok && c.Player == before {
						turn.Refuse(c, "one order in a tick is enough")
					} else if ok {
						before = c.Player
					}
				}
				step(w, config, turn)
			}
		},
	})
	join := func(token string) *testClient {
		return s.joinWith(t, client.Options{Options: player.Options{Token: token, Views: true}})
	}
	a, b := join(ada), join(bob)
	<-a.Ready()
	<-b.Ready()
	var second lockstep.Sequence
	a.Do(func(c *player.Client) {
		for i := range uint16(2) {
			var err error
			if second, err = c.Submit(&minimal.Go{X: i, Y: 3}); err != nil {
				t.Error(err)
			}
		}
	})
	eventually(t, "the answer", func() bool { return has[player.Refused](a) })
	got, receipts := told[player.Refused](a), told[lockstep.Receipt](a)
	if len(got) != 1 || len(receipts) != 2 || got[0] != (player.Refused{Sequence: second, Tick: receipts[1].Tick, Reason: "one order in a tick is enough"}) {
		t.Errorf("got %+v after the receipts %v", got, receipts)
	}
	if got := told[player.Refused](b); len(got) > 0 {
		t.Errorf("another player heard %+v", got)
	}
}
