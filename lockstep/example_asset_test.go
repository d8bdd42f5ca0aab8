package lockstep_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The map of a match is a file that its configuration lists. New finds the content in the configuration.
func ExampleGame_WithAssets() {
	type config struct {
		Map lockstep.Asset

		Rows []byte `state:"derived"` // the content of Map
	}
	type world struct{ Trees uint32 }
	game := lockstep.MustGame(lockstep.Rules[world, config]{
		Name: "forest", Build: "1",
		Assets: func(c *config) []lockstep.Asset { return []lockstep.Asset{c.Map} },
		Load:   func(c *config, contents [][]byte) error { c.Rows = contents[0]; return nil },
		New: func(w *world, _ *lockstep.Settings, c *config) error {
			for _, b := range c.Rows {
				if b == 'T' {
					w.Trees++
				}
			}
			return nil
		},
		Step: func(*world, *config, *lockstep.Turn) {},
	})

	file := []byte("T..T\n.T..")
	valley, err := record.NewAsset("valley.map", file)
	if err != nil {
		fmt.Println(err)
		return
	}
	source := func(a lockstep.Asset) ([]byte, error) { return file, nil } // such as assets.Folder.Read
	header, err := game.WithAssets(source).NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config{Map: valley})
	if err != nil {
		fmt.Println(err)
		return
	}
	sim, err := game.WithAssets(source).NewSimulation(header)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lockstep.World[world](sim).Trees, "trees")

	_, err = game.NewSimulation(header)
	fmt.Println(errors.Is(err, record.ErrNoAsset))
	// Output:
	// 3 trees
	// true
}

// Several players edit a map. A change names the version that its player has seen. The refusal of a stale one, which is the
// detail of its receipt, has the present version: the editor shows that, and the player decides again. Of two changes of one
// version in a tick, the second has been accepted already, so an event tells that it is stale.
func ExampleRules_versions() {
	type edit struct {
		Version uint32 // that the player has seen
		Height  uint8
	}
	type world struct {
		Version uint32
		Height  uint8
	}
	type config struct{}
	type stale struct {
		Player lockstep.Player
		Err    error
	}
	refuse := func(w *world, e *edit) error {
		if e.Version != w.Version {
			return fmt.Errorf("stale: got version %d, the map has version %d", e.Version, w.Version)
		}
		return nil
	}
	game := lockstep.MustGame(lockstep.Rules[world, config]{
		Name: "editor", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[edit](1, "edit")},
		New:      func(*world, *lockstep.Settings, *config) error { return nil },
		Validate: func(w *world, _ *config, c *lockstep.Command) error {
			e, _ := c.Value.(*edit)
			return refuse(w, e)
		},
		Step: func(w *world, _ *config, turn *lockstep.Turn) {
			for i := range turn.Commands {
				c := &turn.Commands[i]
				e, ok := c.Value.(*edit)
				if !ok {
					continue
				}
				// Another change may have come first since Validate.
				if err := refuse(w, e); err != nil {
					lockstep.Emit(turn, stale{c.Player, err})
					continue
				}
				w.Height = e.Height
				w.Version++
			}
		},
	})
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := editCommand(game, 0, &edit{Version: 0, Height: 3})
	second := editCommand(game, 1, &edit{Version: 0, Height: 9})
	sim.Observe(func(_ lockstep.Tick, event any) { fmt.Println(event) })
	fmt.Println(sim.Validate(&second))
	if err := sim.Step(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{first, second}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sim.Validate(&second))
	// Output:
	// <nil>
	// {1 stale: got version 0, the map has version 1}
	// stale: got version 0, the map has version 1
}

func editCommand(g *lockstep.Game, p lockstep.Player, value any) lockstep.Command {
	kind, payload, err := g.NewPayloads().Encode(value)
	if err != nil {
		panic(err) // the type is registered
	}
	return lockstep.Command{Tick: 1, Player: p, Sequence: 1, Kind: kind, Payload: payload, Value: value}
}

// Programs say which asset is missing.
func ExampleAssetError() {
	missing := lockstep.Asset{Name: "valley.map", SHA256: "0", Size: 9}
	var err error = &record.AssetError{Asset: missing, Err: record.ErrNoAsset}
	if e := (*record.AssetError)(nil); errors.As(err, &e) && errors.Is(err, record.ErrNoAsset) {
		fmt.Println("download", e.Asset.Name)
	}
	// Output: download valley.map
}

// An asset is known by the sum and the size of its content.
func ExampleAsset() {
	a, err := record.NewAsset("valley.map", []byte("T..T\n"))
	fmt.Println(a.Name, a.Size, err)
	fmt.Println(errors.Is(a.CheckContent([]byte("T.TT\n")), record.ErrAssetContent))
	// Output:
	// valley.map 5 <nil>
	// true
}
