//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// The JSON that verbs print of the golden replays survives a reader that parses all numbers as floats. TestJSON of
// internal/testing/archtest checks the types of everything that becomes JSON.
func TestJSONIsNotRounded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../testdata/replays/*.ssr")
	if err != nil || len(files) < 4 {
		t.Fatalf("got %d replays, %v", len(files), err)
	}
	for i, name := range files {
		if i > 0 && testenv.Small(t) {
			break
		}
		other := files[(i+1)%len(files)]
		for _, args := range [][]string{
			{"info"}, {"verify"}, {"dump"}, {"dump", "--commands"}, {"dump", "--tick", "0"}, {"dump", "--tick", "130"}, {"dump", "--tick", "0", "--path", "Units"},
			{"seek", "--tick", "130"}, {"step", "--tick", "130"}, {"step", name, "--tick", "130"}, {"diff", other}, {"diff", name, "--tick", "60"}, {"bisect", other}, {"recover", filepath.Join(t.TempDir(), "out.ssr")},
		} {
			checkJSON(t, append([]string{"replay", args[0], name}, append(args[1:], "--json")...)...)
		}
		checkJSON(t, "replay", "export", name)
	}
	dir := t.TempDir()
	demo := []string{"demo", "--game", "minimal", "--seconds", "5", "--players", "2", "--dir", dir, "--json"}
	if !testenv.Small(t) {
		demo = []string{"demo", "--seconds", "5", "--config", `{"Units":100}`, "--players", "2", "--dir", dir, "--json"}
	}
	checkJSON(t, demo...)
	bundles, err := filepath.Glob(filepath.Join(dir, "*.zip"))
	if err != nil || len(bundles) == 0 {
		t.Fatalf("got no bundle of the demo, %v", err)
	}
	checkJSON(t, "desync", "explain", bundles[0], "--json")
	checkJSON(t, "replay", "diff", bundles[0], "--json")
	checkJSON(t, "replay", "step", bundles[0], "--json")
	checkJSON(t, "simulate", "--seeds", "1", "--minutes", "0.7", "--clients", "2", "--json")
}

// checkJSON runs a command that prints JSON.
func checkJSON(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	tooltest.Execute(args, &out, &errs)
	n, bad, err := roundedNumbers(&out)
	if err != nil || n == 0 {
		t.Fatalf("%v: %d values of JSON, %v: %s", args, n, err, &errs)
	}
	if len(bad) > 0 {
		t.Errorf("%v: %d numbers are rounded, first %s", args, len(bad), bad[0])
	}
}

// roundedNumbers returns the number of JSON values in r, and the numbers that change when they are parsed as floats and
// printed again.
func roundedNumbers(r io.Reader) (values int, bad []string, err error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			return values, bad, nil
		}
		if err != nil {
			return values, bad, err
		}
		values++
		n, ok := token.(json.Number)
		if !ok {
			continue
		}
		f, err := n.Float64()
		if err != nil {
			return values, bad, err
		}
		want, _ := new(big.Rat).SetString(n.String())
		got, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
		if got.Cmp(want) != 0 {
			bad = append(bad, n.String())
		}
	}
}

// Control: numbers that do not fit into a float are reported, and others are not.
func TestJSONIsNotRoundedControl(t *testing.T) {
	const text = `{"a":9007199254740993,"b":[1,-0.25,1e300,1234567890.1234567891],"c":"9007199254740993","d":9007199254740992}` + "\n" + `18446744073709551615`
	n, bad, err := roundedNumbers(bytes.NewBufferString(text))
	if err != nil || n < 10 || len(bad) != 3 || bad[0] != "9007199254740993" || bad[1] != "1234567890.1234567891" || bad[2] != "18446744073709551615" {
		t.Errorf("got %d values, rounded %v, %v", n, bad, err)
	}
}

// An admin may post a seed as a number or as the string that a server answers. Without one the server draws it.
func TestSeedOfRequest(t *testing.T) {
	for body, want := range map[string]uint64{
		`{"name":"a"}`: 0, `{"name":"a","seed":18446744073709551615}`: 1<<64 - 1, `{"name":"a","seed":"18446744073709551615"}`: 1<<64 - 1,
	} {
		spec, err := serving.RequestedMatch(strings.NewReader(body), games, false, &serving.MatchPolicy{Game: games[0], Players: 4})
		if err != nil || spec.Settings.Seed != want {
			t.Errorf("%s: got seed %d, %v, want %d", body, spec.Settings.Seed, err, want)
		}
	}
	for _, bad := range []string{`{"seed":-1}`, `{"seed":"1.5"}`, `{"seed":""}`, `{"seed":18446744073709551616}`} {
		if spec, err := serving.RequestedMatch(strings.NewReader(bad), games, false, &serving.MatchPolicy{Game: games[0], Players: 4}); err == nil {
			t.Errorf("%s: got seed %d, want an error", bad, spec.Settings.Seed)
		}
	}
}

// A request may choose one of the server's games, and bots play that game.
func TestGameOfRequest(t *testing.T) {
	policy := &serving.MatchPolicy{Game: games[0], Players: 3}
	if spec, err := serving.RequestedMatch(strings.NewReader(`{"name":"a"}`), games, false, policy); err != nil || spec.Settings.Players != 3 {
		t.Errorf("without players: got %d, %v, want those of the server", spec.Settings.Players, err)
	}
	for name, want := range map[string]string{"": games[0].Name(), "minimal": "minimal", games[0].Name(): games[0].Name()} {
		spec, err := serving.RequestedMatch(strings.NewReader(fmt.Sprintf(`{"name":"a","players":2,"bots":1,"game":%q}`, name)), games, false, policy)
		if err != nil || spec.Game.Name() != want || spec.Bots[1] == nil {
			t.Errorf("game %q: got %v, %v", name, spec.Game, err)
		}
	}
	if _, err := serving.RequestedMatch(strings.NewReader(`{"game":"chess"}`), games, false, policy); err == nil || !strings.Contains(err.Error(), `unknown game "chess", want skirmish or minimal`) {
		t.Errorf("got %v", err)
	}
}

// A request has a rate or a period; the intervals of checksums and keyframes are a second and a minute.
func TestPeriodOfRequest(t *testing.T) {
	policy := &serving.MatchPolicy{Game: games[0], Players: 4, DelaySpectators: 30 * time.Second, Adaptive: true}
	for _, row := range []struct {
		body                     string
		rate                     uint16
		micros                   uint32
		check, keyframe, delayed uint32
	}{
		{`{"name":"a"}`, 20, 50_000, 20, 1200, 600},
		{`{"name":"a","tick_rate":8}`, 8, 125_000, 8, 480, 240},
		{`{"name":"a","tick_micros":600000}`, 2, 600_000, 2, 100, 50},
		{`{"name":"a","tick_micros":60000000}`, 1, 60_000_000, 1, 1, 0},
	} {
		spec, err := serving.RequestedMatch(strings.NewReader(row.body), games, false, policy)
		if s := spec.Settings; err != nil || s.TickRate() != row.rate || s.TickMicros != row.micros || uint32(s.CheckEvery) != row.check || uint32(s.KeyframeEvery) != row.keyframe ||
			uint32(spec.Host.SpectatorDelay) != row.delayed || uint32(spec.Host.Delay.Max) != uint32(row.rate)/2+1 {
			t.Errorf("%s: got %+v, spectators %+v, %v", row.body, s, spec.Host, err)
		}
	}
	for bad, want := range map[string]string{
		`{"tick_rate":20,"tick_micros":50}`: "a match: got tick_rate 20 and tick_micros 50, want one of them",
		`{"tick_micros":999}`:               "a match: tick_micros: got 999, want 1000 to 60000000",
		`{"tick_micros":60000001}`:          "a match: tick_micros: got 60000001, want 1000 to 60000000",
		`{"tick_rate":0}`:                   "a match: tick_rate: got 0, want 1 to 1000",
		`{"tick_rate":1001}`:                "a match: tick_rate: got 1001, want 1 to 1000",
	} {
		if _, err := serving.RequestedMatch(strings.NewReader(bad), games, false, policy); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", bad, err, want)
		}
	}
	if _, err := serving.RequestedMatch(strings.NewReader(`{"players":2,"tick_ms":20}`), games, true, policy); err == nil {
		t.Error("a guest may have 50 ticks a second")
	}
}
