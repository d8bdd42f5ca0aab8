package locksteptest_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A meadow is what a player sees of a pasture: the herds whose number is that of the player, and those that are tame.
type meadow struct {
	Herds []grazing
}

type grazing struct {
	ID   uint8 `feed:"id"`
	X    int32
	Size uint32
}

func seeMeadow(w *pasture, _ *pastureConfig, viewer lockstep.Viewer, v *meadow) error {
	if viewer.As != lockstep.AsPlayer {
		return errors.New("only players look")
	}
	v.Herds = v.Herds[:0]
	for i := range w.Herds {
		if h := &w.Herds[i]; h.Tame || i == int(viewer.Number) {
			v.Herds = append(v.Herds, grazing{uint8(i), h.X, h.Size})
		}
	}
	return nil
}

// meadows are the rules of pasture with views.
func meadows(see func(*pasture, *pastureConfig, lockstep.Viewer, *meadow) error) lockstep.Rules[pasture, pastureConfig] {
	rules := pastureRules()
	rules.Validate, rules.View = nil, lockstep.View(see, refuseMeadow)
	return rules
}

// refuseMeadow refuses to breed where the first herd in sight is as large as that.
func refuseMeadow(v *meadow, c *lockstep.Command) error {
	if b, ok := c.Value.(*breed); ok && len(v.Herds) > 0 && b.Herd%4 == uint16(v.Herds[0].Size%4) {
		return errors.New("too many")
	}
	return nil
}

// telling makes views of which the answers to commands depend on all herds.
func telling() lockstep.ViewType {
	var herds uint32
	return lockstep.View(func(w *pasture, c *pastureConfig, viewer lockstep.Viewer, v *meadow) error {
		herds = 0
		for i := range w.Herds {
			herds = herds*31 + uint32(w.Herds[i].X) + w.Herds[i].Size
		}
		return seeMeadow(w, c, viewer, v)
	}, func(*meadow, *lockstep.Command) error {
		if herds%3 == 0 {
			return errors.New("not now")
		}
		return nil
	})
}

// kept is what a player of a pasture must not know.
func kept(w *pasture, viewer lockstep.Viewer) []string {
	paths := []string{"Dice"}
	for i := range w.Herds {
		if !w.Herds[i].Tame && i != int(viewer.Number) {
			paths = append(paths, fmt.Sprintf("Herds[%d].X", i), fmt.Sprintf("Herds[%d].Size", i))
		}
	}
	return paths
}

func TestCheckView(t *testing.T) {
	secret := locksteptest.Secrecy[pasture]{Viewers: []lockstep.Viewer{{As: lockstep.AsPlayer, Number: 1}}, Hidden: kept}
	locksteptest.CheckView(t, lockstep.MustGame(meadows(seeMeadow)), options(), secret)
	for _, bad := range []struct {
		name, want string
		see        func(*pasture, *pastureConfig, lockstep.Viewer, *meadow) error
		view       lockstep.ViewType
		rules      func(*lockstep.Rules[pasture, pastureConfig])
		ticks      lockstep.Tick // 0: as usual
		secret     func(*locksteptest.Secrecy[pasture])
	}{
		{name: "a number of what is hidden is sent", want: "a view for player:1 tells Dice, which is hidden: when it changes, Herds[",
			see: func(w *pasture, c *pastureConfig, viewer lockstep.Viewer, v *meadow) error {
				err := seeMeadow(w, c, viewer, v)
				for i := range v.Herds {
					v.Herds[i].Size += uint32(w.Dice & 1)
				}
				return err
			}},
		{name: "a hidden herd is sent", want: "which is hidden: when it changes, Herds[",
			see: func(w *pasture, _ *pastureConfig, _ lockstep.Viewer, v *meadow) error {
				return seeMeadow(w, nil, lockstep.Viewer{As: lockstep.AsPlayer, Number: 0}, v)
			}},
		{name: "what is hidden decides on a refusal", want: "view for player:1: not now",
			see: func(w *pasture, c *pastureConfig, viewer lockstep.Viewer, v *meadow) error {
				if w.Dice&1 != 0 && w.Tick > 0 {
					return errors.New("not now")
				}
				return seeMeadow(w, c, viewer, v)
			}},
		{name: "a viewer is refused", want: "only players look", see: seeMeadow,
			secret: func(s *locksteptest.Secrecy[pasture]) { s.Viewers = []lockstep.Viewer{{}} }},
		{name: "nothing is hidden", want: "nothing was hidden", see: seeMeadow,
			secret: func(s *locksteptest.Secrecy[pasture]) {
				s.Hidden = func(*pasture, lockstep.Viewer) []string { return nil }
			}},
		{name: "nothing is shown", want: "no change of a shown field", secret: func(*locksteptest.Secrecy[pasture]) {},
			see: func(_ *pasture, _ *pastureConfig, _ lockstep.Viewer, v *meadow) error { *v = meadow{}; return nil }},
		{name: "an answer tells what is hidden", want: "the answer to a command reveals what is hidden: player 1 is told", view: telling()},
		{name: "nobody is asked", want: "no two different worlds looked the same to a player", see: seeMeadow,
			secret: func(s *locksteptest.Secrecy[pasture]) {},
			rules: func(r *lockstep.Rules[pasture, pastureConfig]) {
				r.ViewOf = func(*pasture, lockstep.Player) lockstep.Viewer { return lockstep.Viewer{} } // which gets no view
			}},
		{name: "an effect tells what is hidden", want: "the effect of a command reveals what is hidden: in the tick that runs breed ", see: seeMeadow,
			rules: feeling},
		{name: "no effect is looked at", want: "no effects were compared", view: lockstep.View(seeMeadow, func(*meadow, *lockstep.Command) error {
			return errors.New("no")
		})},
		{name: "a kind is not asked about", want: `no answer to a command of kind "large" was compared`, see: seeMeadow,
			rules: func(r *lockstep.Rules[pasture, pastureConfig]) {
				r.Commands = append(r.Commands, lockstep.Type[struct{ Much [lockstep.MaxPayload + 1]bool }](9, "large"))
			}, ticks: 8},
		{name: "no viewers", want: "needs a game with views", see: seeMeadow,
			secret: func(s *locksteptest.Secrecy[pasture]) { s.Viewers = nil }},
	} {
		s := secret
		if bad.secret != nil {
			bad.secret(&s)
		}
		rules := meadows(bad.see)
		if bad.see == nil {
			rules.View = bad.view
		}
		if bad.rules != nil {
			bad.rules(&rules)
		}
		o := options()
		o.Ticks = cmp.Or(bad.ticks, o.Ticks)
		if err := locksteptest.RunView(lockstep.MustGame(rules), o, s); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: got %v, want %q", bad.name, err, bad.want)
		}
	}
}

// feeling are rules in which a command tells at once whether hidden herds are large, and shows them one after the other.
func feeling(r *lockstep.Rules[pasture, pastureConfig]) {
	step := r.Step
	r.Step = func(w *pasture, c *pastureConfig, turn *lockstep.Turn) {
		step(w, c, turn)
		for i := range turn.Commands {
			if b, ok := turn.Commands[i].Value.(*breed); ok {
				w.Herds[1].Size += w.Herds[0].Size
				w.Herds[int(b.Herd)%len(w.Herds)].Tame = true
			}
		}
	}
}

// What comes into sight may differ, and so may what the game says that players feel.
func TestCheckViewAllows(t *testing.T) {
	secret := locksteptest.Secrecy[pasture]{Viewers: []lockstep.Viewer{{As: lockstep.AsPlayer, Number: 1}}, Hidden: kept}
	secret.Felt = func(hidden, shown string) bool { return hidden == "Herds[0].Size" && strings.HasSuffix(shown, ".Size") }
	rules := meadows(seeMeadow)
	feeling(&rules)
	locksteptest.CheckView(t, lockstep.MustGame(rules), options(), secret)
}

// A phase that compared no answer does not pass for one that found nothing.
func TestIdleAnswers(t *testing.T) {
	rules := meadows(seeMeadow)
	good := lockstep.MustGame(rules)
	rules.ViewOf = func(*pasture, lockstep.Player) lockstep.Viewer { return lockstep.Viewer{} } // which gets no view
	idle := lockstep.MustGame(rules)
	for _, test := range []struct {
		name string
		game *lockstep.Game
		thin string
		want error
	}{
		{"players see", good, "", nil},
		{"no player sees anything", idle, "", locksteptest.ErrThin},
		{"which is meant so", idle, "only spectators look", nil},
	} {
		o := options()
		o.AllowThin = test.thin
		_, told := locksteptest.Run(test.game, o)
		_, _, err := locksteptest.Search(t.Context(), test.game, o, locksteptest.SearchOptions{Matches: 3})
		for _, err := range []error{told, err} {
			if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), "answers: no two different worlds") {
				t.Errorf("%s: got %v, want %v", test.name, err, test.want)
			}
		}
	}
}

// A view must not tell what its viewer does not see. What is hidden is said a second time, in another way.
func ExampleRunView() {
	rules := pastureRules()
	rules.Validate, rules.View = nil, lockstep.View(func(w *pasture, _ *pastureConfig, _ lockstep.Viewer, v *meadow) error {
		v.Herds = v.Herds[:0]
		for i := range w.Herds {
			v.Herds = append(v.Herds, grazing{ID: uint8(i), Size: w.Herds[i].Size}) // all herds
		}
		return nil
	}, nil)
	var secret locksteptest.Secrecy[pasture] = locksteptest.Secrecy[pasture]{
		Viewers: []lockstep.Viewer{{As: lockstep.AsPlayer, Number: 1}},
		Hidden:  func(*pasture, lockstep.Viewer) []string { return []string{"Herds[0]"} },
	}
	err := locksteptest.RunView(lockstep.MustGame(rules), locksteptest.Options{Config: &pastureConfig{Herds: 6}}, secret)
	fmt.Println(err)
	// Output:
	// locksteptest: CheckView: tick 0: a view for player:1 tells Herds[0].Size, which is hidden: when it changes, Herds[0].Size of the view changes from 1 to 0
}
