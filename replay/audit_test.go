package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// The hunt: each player sees its own hares, and from tick 10 on two hares more in each tick. Hares have odd ids, and some of them are negative.
type (
	hunt struct {
		Tick  uint32
		Hares []hare
	}
	hare struct {
		ID    int16
		Owner uint8
		Hits  uint32
	}
	hit struct {
		At   []int16 `feed:"of=Hares"`
		With uint8
	}
	wait    struct{ Ticks uint8 }
	glade   struct{ Hares []spotted }
	spotted struct {
		ID int16 `feed:"id"`
	}
	huntConfig struct{}
)

const hares = 100

func shown(w *hunt, player uint8, i int) bool {
	return w.Hares[i].Owner == player || i < 2*(int(w.Tick)-10)
}

func huntRules() lockstep.Rules[hunt, huntConfig] {
	return lockstep.Rules[hunt, huntConfig]{
		Name: "hunt", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[hit](1, "hit"), lockstep.Type[wait](2, "wait")},
		New: func(w *hunt, s *lockstep.Settings, _ *huntConfig) error {
			for i := range hares {
				w.Hares = append(w.Hares, hare{ID: int16(2*i) - 49, Owner: uint8(i % 20)})
			}
			return nil
		},
		Step: func(w *hunt, _ *huntConfig, turn *lockstep.Turn) {
			w.Tick++
			for _, c := range turn.Commands {
				if h, ok := c.Value.(*hit); ok {
					for i := range w.Hares {
						if slices.Contains(h.At, w.Hares[i].ID) {
							w.Hares[i].Hits++
						}
					}
				}
			}
		},
		View: lockstep.View(func(w *hunt, _ *huntConfig, viewer lockstep.Viewer, v *glade) error {
			v.Hares = v.Hares[:0]
			for i := range w.Hares {
				if shown(w, viewer.Number, i) {
					v.Hares = append(v.Hares, spotted{w.Hares[i].ID})
				}
			}
			return nil
		}, nil),
	}
}

// hunted plays a match of an honest player, who hits what it sees, and one who hits anything.
func hunted(t testing.TB, rules lockstep.Rules[hunt, huntConfig]) (*lockstep.Game, *replay.Reader) {
	t.Helper()
	game := lockstep.MustGame(rules)
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &huntConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	c, err := coordinator.New(game, header, replay.NewWriter(&file, replay.WriterOptions{}), coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	payloads := game.NewPayloads()
	for p := range lockstep.Player(2) {
		c.Join(p)
	}
	dice := rand.New(rand.NewPCG(7, 7))
	for tick := range lockstep.Sequence(60) {
		w := lockstep.World[hunt](c.Referee().Simulation())
		for p := range lockstep.Player(2) {
			i := dice.IntN(hares)
			if tick%3 != 0 || p == 0 && !shown(w, uint8(p), i) {
				continue
			}
			kind, payload, err := payloads.Encode(&hit{At: []int16{w.Hares[i].ID, 2}}) // 2 is no hare
			if err != nil {
				t.Fatal(err)
			}
			c.Submit(p, tick+1, kind, payload)
		}
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.End("enough"); err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return game, r
}

// A player who uses only what it sees has no reference to anything else. One who uses anything is found, about as often as chance.
func TestAudit(t *testing.T) {
	game, r := hunted(t, huntRules())
	audits, err := replay.AuditPlayers(r, game, replay.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	honest, all := audits[0], audits[1]
	if len(honest.Unseen) != 0 || honest.References == 0 || honest.Expected < 0.5 {
		t.Errorf("the honest player: %+v", honest)
	}
	if n := len(all.Unseen); all.References < 8 || n < 3 || float64(n) < all.Expected/2 || float64(n) > all.Expected*2 {
		t.Errorf("the other player: %+v", all)
	}
	for _, u := range all.Unseen {
		if u.List != "Hares" || u.Elements != hares || u.Unseen == 0 || !strings.Contains(u.Command, "hit") {
			t.Errorf("got %+v", u)
		}
	}
}

func TestAuditRefuses(t *testing.T) {
	blind := huntRules()
	blind.View = lockstep.ViewType{}
	game, r := hunted(t, blind)
	if _, err := replay.AuditPlayers(r, game, replay.SimulateOptions{}); err == nil || !strings.Contains(err.Error(), "have no views") {
		t.Errorf("a game without views: %v", err)
	}
	type untagged struct {
		At   []int16
		With uint8
	}
	plain := huntRules()
	plain.Commands[0] = lockstep.Type[untagged](1, "hit")
	if _, err := replay.AuditPlayers(r, lockstep.MustGame(plain), replay.SimulateOptions{}); !errors.Is(err, replay.ErrNoReferences) {
		t.Errorf("a game without tags: %v", err)
	}
	type elsewhere struct {
		At   []int16 `feed:"of=Foxes"`
		With uint8
	}
	plain.Commands[0] = lockstep.Type[elsewhere](1, "hit")
	if _, err := replay.AuditPlayers(r, lockstep.MustGame(plain), replay.SimulateOptions{}); err == nil || !strings.Contains(err.Error(), `of=Foxes`) {
		t.Errorf("a tag that names no list: %v", err)
	}
}

// Which commands of a match refer to what their player has never seen?
func ExampleAuditPlayers() {
	game, r := hunted(new(testing.T), huntRules())
	var audits []replay.Audit
	audits, err := replay.AuditPlayers(r, game, replay.SimulateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range audits {
		fmt.Printf("player %d: %d of %d references to what it had not seen, %.1f by chance\n", a.Player, len(a.Unseen), a.References, a.Expected)
	}
	var worst replay.UnseenReference = audits[1].Unseen[0]
	fmt.Println("tick", worst.Tick, "refers to", worst.List, int64(worst.ID))
	// Output:
	// player 0: 0 of 10 references to what it had not seen, 4.0 by chance
	// player 1: 10 of 20 references to what it had not seen, 11.6 by chance
	// tick 4 refers to Hares -11
}
