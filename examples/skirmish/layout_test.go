package skirmish

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

func crossroads(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("maps/crossroads.map")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A layout that is written to a file and read again is the same.
func TestMapRoundTrip(t *testing.T) {
	for _, players := range []uint8{1, 2, 5, 16} {
		c := Defaults(players, 200)
		rand := fixed.NewRand(uint64(players))
		layout := Generate(&rand, players, &c)
		file, err := layout.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseMap(file)
		if err != nil {
			t.Fatalf("%d players: %v\n%s", players, err, file)
		}
		if diff := cmp.Diff(layout, got); diff != "" {
			t.Errorf("%d players: the layout differs from the one that was written: %s", players, diff)
		}
	}
}

// Each bad file is refused with what was got, where, and what was expected.
func TestMapRefused(t *testing.T) {
	good := string(crossroads(t))
	with := func(line string) string { return strings.Replace(good, "ground\n", line+"\nground\n", 1) }
	for _, row := range []struct{ file, want string }{
		{"", `the first line is "", want "skirmish map 1"`},
		{strings.Replace(good, "map 1", "map 2", 1), `the first line is "skirmish map 2"`},
		{good + strings.Repeat(" ", MaxMapFile), "bytes, want at most 524288"},
		{mapTitle + "\nsize 64", "no line ground"},
		{mapTitle + "\nsize 31", "line 2: got 31, want a whole number from 32 to 512"},
		{mapTitle + "\nsize 33", "line 2: got 33, want an even number"},
		{mapTitle + "\nsize 64.5", "line 2: got 64.5, want a whole number"},
		{mapTitle + "\nsize 64 64", "line 2: got 2 numbers after size, want 1"},
		{mapTitle + "\nbase 5 5", "line 2: the place is 5 5, want it on the map of 0 cells"},
		{mapTitle + "\nground", "line 3: got 0 rows, want 0, the size"},
		{with("size 64"), "want one size"},
		{with("castle 5 5"), `got "castle", want size, base, crystal, a zone or ground`},
		{with("base five 5"), `"five"`},
		{with("base 5"), "got 1 numbers after base, want 2"},
		{with("base 64 5"), "the place is 64 5, want it on the map of 64 cells"},
		{with("base -1 5"), "want it on the map"},
		{with("base 11 11"), "the base is at most 12 cells from base 0"},
		{with("crystal 32 32 0"), "got 0, want a whole number from 1 to 65535"},
		{with("crystal 18 23 5"), `"crystal 18 23 5" is on rock or cannot be reached`},
		{with("shrine 32 32 9"), "the radius is 9, want 0.5 to 8"},
		{with("teleport 32 32 1 200"), "got 200, want a whole number from 0 to 63"},
		{with("teleport 32 32 1 63"), "leads to zone 63 of"},
		{with(strings.Repeat("hoard 32 32 1\n", MaxMapZones)), "want at most 64 zones"},
		{with(strings.Repeat("crystal 32 32 1\n", MaxMapCrystals)), "want at most 512 crystals"},
		{good + "....\n", "got 65 rows, want 64"},
		{strings.Replace(good, "#\n#", "#\n.", 1), "is on the edge, want #"},
		{strings.Replace(good, "##\n", "#\n", 1), "got 63 cells, want 64"},
		{strings.Replace(good, "#.", "#~", 1), "is '~', want '#' or '.'"},
		{strings.ReplaceAll(good, "base ", "# "), "there is no base"},
		{with("base 32 1"), "base 4 has rock in cell"},
	} {
		if _, err := ParseMap([]byte(row.file)); !errors.Is(err, ErrMap) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v, want %q", err, row.want)
		}
	}
}

// Cells that cannot be reached become rock, so that no unit begins there.
func TestMapPockets(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nsize 32\n\n# a map with a pocket\nbase 10 10\nground\r\n", mapTitle)
	for y := range 32 {
		for x := range 32 {
			edge := x == 0 || y == 0 || x == 31 || y == 31
			if wall := max(x, y) >= 24 && min(x, y) >= 24 && min(x, y) == 24; edge || wall {
				b.WriteByte('#')
			} else {
				b.WriteByte('.')
			}
		}
		b.WriteString("\r\n")
	}
	l, err := ParseMap([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if !l.Map.Rock(28, 28) || l.Map.Rock(20, 20) {
		t.Errorf("the pocket is rock: %v, the middle is: %v, want true and false", l.Map.Rock(28, 28), l.Map.Rock(20, 20))
	}
}

// A match begins on the map of its configuration, and the layout stays as it was for the next match.
func TestMatchOnMap(t *testing.T) {
	file := crossroads(t)
	asset, err := record.NewAsset("crossroads.map", file)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := ParseMap(file)
	if err != nil {
		t.Fatal(err)
	}
	game := lockstep.MustGame(Rules()).WithAssets(func(lockstep.Asset) ([]byte, error) { return file, nil })
	begin := func(players uint8, change func(*Config)) (*lockstep.Simulation, error) {
		config := Defaults(players, 90)
		config.Size, config.Map = 64, []lockstep.Asset{asset}
		change(&config)
		header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(players), &config)
		if err != nil {
			return nil, err
		}
		return game.NewSimulation(header)
	}
	sim, err := begin(3, func(*Config) {})
	if err != nil {
		t.Fatal(err)
	}
	w := lockstep.World[World](sim)
	if diff := cmp.Diff(layout, &Layout{w.Map, layout.Bases, w.Crystals, w.Zones}); diff != "" {
		t.Errorf("the match has another map: %s", diff)
	}
	for p := range 3 {
		if got := w.Units[p*30]; got.Kind != Base || got.Pos != layout.Bases[p] {
			t.Errorf("player %d begins with a %v at %v, want a base at %v", p, got.Kind, got.Pos, layout.Bases[p])
		}
	}
	for _, row := range []struct {
		players uint8
		change  func(*Config)
		want    string
	}{
		{2, func(c *Config) { c.Size = 96 }, "size is 96, want 64 as in the map"},
		{5, func(*Config) {}, "5 players, want at most 4, the number of bases on the map"},
		{2, func(c *Config) { c.Map = append(c.Map, asset); c.Map[1].Name = "other.map" }, "got 2 maps, want at most 1"},
	} {
		_, err := begin(row.players, row.change)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v, want %q", err, row.want)
		}
	}
}

func FuzzParseMap(f *testing.F) {
	f.Add(crossroads(f))
	f.Add([]byte(mapTitle + "\nsize 32\nbase 10 10\nteleport 4 4 1 0\nground\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		l, err := ParseMap(file)
		if err != nil {
			if !errors.Is(err, ErrMap) {
				t.Fatal(err)
			}
			return
		}
		text, _ := l.AppendText(nil)
		again, err := ParseMap(text)
		if err != nil {
			t.Fatalf("the layout was written as a file that is refused: %v", err)
		}
		if second, _ := again.AppendText(nil); !bytes.Equal(text, second) {
			t.Fatal("the layout changed when it was written and read")
		}
	})
}
