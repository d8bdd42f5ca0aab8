package lockstep_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// tilesMap is the content of the map of these tests, and tilesAsset is it in a configuration.
var (
	tilesMap      = []byte("a map of tiles")
	tilesAsset, _ = record.NewAsset("valley.map", tilesMap)
)

func reading(content []byte) func(lockstep.Asset) ([]byte, error) {
	return func(lockstep.Asset) ([]byte, error) { return content, nil }
}

// The content is compared with size and sum before New, and also when a state is restored.
func TestAssetsAreChecked(t *testing.T) {
	game := lockstep.MustGame(testgame.TilesRules())
	settings := lockstep.DefaultSettings(2)
	h, err := game.WithAssets(reading(tilesMap)).NewHeader(lockstep.MatchID{1}, settings, &testgame.TilesConfig{Map: tilesAsset})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := game.Assets(h); err != nil || len(list) != 1 || list[0] != tilesAsset {
		t.Fatalf("got assets %v and error %v, want %v", list, err, tilesAsset)
	}
	other := append([]byte(nil), tilesMap...)
	other[0] ^= 1
	for _, row := range []struct {
		name string
		game *lockstep.Game
		want error
		text string
	}{
		{"no source", game, record.ErrNoAsset, "no source of assets"},
		{"not here", game.WithAssets(func(lockstep.Asset) ([]byte, error) { return nil, record.ErrNoAsset }), record.ErrNoAsset, `asset "valley.map" with sha256 ` + tilesAsset.SHA256},
		{"another content", game.WithAssets(reading(other)), record.ErrAssetContent, "got sha256"},
		{"too short", game.WithAssets(reading(tilesMap[1:])), record.ErrAssetContent, "got 13 bytes, want 14"},
		{"too long", game.WithAssets(reading(append(other, 0))), record.ErrAssetContent, "got 15 bytes, want 14"},
		{"right", game.WithAssets(reading(tilesMap)), nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, created := row.game.NewSimulation(h)
			_, restored := row.game.AwaitState(h)
			_, made := row.game.NewHeader(h.Match, settings, &testgame.TilesConfig{Map: tilesAsset})
			for _, err := range []error{created, restored, made} {
				if !errors.Is(err, row.want) || row.text != "" && !strings.Contains(err.Error(), row.text) {
					t.Errorf("got %v, want %v: %s", err, row.want, row.text)
				}
				if named := (*record.AssetError)(nil); row.want != nil && (!errors.As(err, &named) || named.Asset != tilesAsset) {
					t.Errorf("got %v, want the asset in it", err)
				}
			}
		})
	}
}

func TestAssetLists(t *testing.T) {
	good := func(change func(*lockstep.Asset)) lockstep.Asset {
		a := tilesAsset
		change(&a)
		return a
	}
	named := func(name string) []lockstep.Asset {
		return []lockstep.Asset{good(func(a *lockstep.Asset) { a.Name = name })}
	}
	var many []lockstep.Asset
	for i := range record.MaxAssets + 1 {
		many = append(many, good(func(a *lockstep.Asset) { a.Name = fmt.Sprint("map", i) }))
	}
	large := good(func(a *lockstep.Asset) { a.Name, a.Size = "large", record.MaxAssetBytes })
	for _, row := range []struct {
		name string
		list []lockstep.Asset
		want string // "" for a good one
	}{
		{"none", nil, ""},
		{"as many as possible", many[1:], ""},
		{"too many", many, "got a list of 65 assets, want at most 64"},
		{"large", []lockstep.Asset{large}, ""},
		{"too large together", []lockstep.Asset{large, tilesAsset}, "exceeds 67108864 bytes"},
		{"too large", []lockstep.Asset{good(func(a *lockstep.Asset) { a.Size = record.MaxAssetBytes + 1 })}, "got a size of 67108865 bytes"},
		{"empty", []lockstep.Asset{good(func(a *lockstep.Asset) { a.Size = 0 })}, "got a size of 0 bytes"},
		{"twice", []lockstep.Asset{tilesAsset, tilesAsset}, "duplicate name"},
		{"no name", named(""), "a name of 0 bytes"},
		{"long name", named(strings.Repeat("a", 65)), "a name of 65 bytes"},
		{"longest name", named(strings.Repeat("a", 64)), ""},
		{"name in another script", named("Tal im Süden"), ""},
		{"parent folder", named(".."), "begins with a dot"},
		{"hidden", named(".map"), "begins with a dot"},
		{"folder", named("a/b"), `the character '/'`},
		{"folder of Windows", named(`a\b`), `the character '\\'`},
		{"drive", named("c:map"), `the character ':'`},
		{"control character", named("a\x00b"), `the character '\x00'`},
		{"later control character", named("a\u0085b"), `the character '\u0085'`},
		{"letters that only newer versions of Unicode know", named("\U00011f04\U0002ebf0"), ""},
		{"line", named("a\nb"), `the character '\n'`},
		{"not UTF-8", named("a\xff"), "not UTF-8"},
		{"no sum", []lockstep.Asset{good(func(a *lockstep.Asset) { a.SHA256 = "" })}, "want a sha256"},
		{"upper case", []lockstep.Asset{good(func(a *lockstep.Asset) { a.SHA256 = strings.Repeat("A", 64) })}, "want a sha256"},
		{"path as sum", []lockstep.Asset{good(func(a *lockstep.Asset) { a.SHA256 = strings.Repeat("../x", 16) })}, "want a sha256"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := record.CheckAssets(row.list)
			if row.want == "" && err != nil || row.want != "" && (!errors.Is(err, record.ErrAsset) || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if len(row.list) == 0 {
				return
			}
			// The same list in a configuration.
			game := lockstep.MustGame(testgame.TilesRules()).WithAssets(reading(tilesMap))
			config := testgame.TilesConfig{Map: row.list[0], Others: row.list[1:]}
			_, err = game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
			if refusal := (*lockstep.ConfigError)(nil); row.want != "" && (!errors.As(err, &refusal) || !errors.Is(err, record.ErrAsset)) {
				t.Errorf("got %v from NewHeader, want a refusal of the configuration", err)
			}
		})
	}
}

// A list or a reader of assets that panics is an error.
func TestAssetsPanic(t *testing.T) {
	for _, where := range []string{"Assets", "Load"} {
		rules := testgame.TilesRules()
		if where == "Assets" {
			rules.Assets = func(*testgame.TilesConfig) []lockstep.Asset { panic("a mistake") }
		} else {
			rules.Load = func(*testgame.TilesConfig, [][]byte) error { panic("a mistake") }
		}
		game := lockstep.MustGame(rules).WithAssets(reading(tilesMap))
		_, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.TilesConfig{Map: tilesAsset})
		if p := (*lockstep.PanicError)(nil); !errors.As(err, &p) || p.Where != where {
			t.Errorf("got %v, want a panic in %s", err, where)
		}
	}
	rules := testgame.TilesRules()
	rules.Load = nil
	if _, err := lockstep.NewGame(rules); err == nil {
		t.Error("rules with Assets and without Load were accepted")
	}
}

// A change names the version that its player has seen. A stale one is refused with the present version.
func TestStaleChange(t *testing.T) {
	game := lockstep.MustGame(testgame.TilesRules()).WithAssets(reading(tilesMap))
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.TilesConfig{Map: tilesAsset})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	payloads := game.NewPayloads()
	command := func(p lockstep.Player, value any) lockstep.Command {
		kind, payload, err := payloads.Encode(value)
		if err != nil {
			t.Fatal(err)
		}
		return lockstep.Command{Tick: 1, Player: p, Sequence: 1, Kind: kind, Payload: append([]byte(nil), payload...), Value: value}
	}
	a, b := command(0, &testgame.Paint{Version: 0, At: 2, Tile: 7}), command(1, &testgame.Paint{Version: 0, At: 2, Tile: 8})
	if err := sim.Validate(&b); err != nil {
		t.Fatal(err)
	}
	if err := sim.Step(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{a, b}}); err != nil {
		t.Fatal(err)
	}
	if w := lockstep.World[testgame.Tiles](sim); w.Version != 1 || w.Painted[2] != 7 {
		t.Errorf("got version %d and tile %d, want the first of two changes of one version", w.Version, w.Painted[2])
	}
	if err := sim.Validate(&b); err == nil || err.Error() != "stale: got version 0, the map has version 1" {
		t.Errorf("got %v, want the present version", err)
	}
}
