//go:build !js

package mirror_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server"
)

// Clients get the rules of a match from a mirror of a mirror, which asks the server for them once, and for nothing that no match names.
func TestRules(t *testing.T) {
	t.Parallel()
	module := []byte("a module")
	sum, other := sha256.Sum256(module), strings.Repeat("0f", 32)
	named := hex.EncodeToString(sum[:])
	var asked atomic.Int32
	s, err := server.New(server.Options{
		Log: quiet(), Host: host.Options{AnonymousSpectators: true}, Descriptors: 1 << 20,
		RulesOf: func(g *lockstep.Game) string { return map[string]string{"minimal": named, "tiles": other}[g.Name()] },
		Rules: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Write(module)
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(context.Background())
	asset, err := record.NewAsset("map", []byte("a map"))
	if err != nil {
		t.Fatal(err)
	}
	tiles := lockstep.MustGame(testgame.TilesRules()).WithAssets(func(lockstep.Asset) ([]byte, error) { return []byte("a map"), nil })
	for _, spec := range []server.MatchSpec{
		{Name: "duel", Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(1), Config: &minimal.Config{Size: 50}},
		{Name: "false", Game: tiles, Settings: lockstep.DefaultSettings(1), Config: &testgame.TilesConfig{Map: asset}},
	} {
		if _, err := s.Create(spec); err != nil {
			t.Fatal(err)
		}
	}
	address, _ := listen(t, s, s.Listener)
	_, near, _ := newMirror(t, mirror.Options{Source: upstream(address)})
	_, far, _ := newMirror(t, mirror.Options{Source: upstream(near)})
	get := func(path string) (status int, text string) {
		t.Helper()
		a, err := http.Get("http://" + far + path)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(b)
	}
	if status, _ := get("/rules/" + named + ".wasm"); status != http.StatusNotFound || asked.Load() != 0 {
		t.Errorf("got %d before the match is followed, want 404", status)
	}
	for name, rules := range map[string]string{"duel": named, "false": other} {
		eventually(t, "the status of "+name, func() bool {
			_, text := get("/matches/" + name)
			return strings.Contains(text, `"rules":"`+rules+`"`)
		})
	}
	for range 2 {
		if status, text := get("/rules/" + named + ".wasm"); status != http.StatusOK || text != string(module) {
			t.Errorf("got %d %q, want the module", status, text)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the server was asked %d times, want once", n)
	}
	for _, path := range []string{"/rules/" + other + ".wasm", "/rules/" + named, "/rules/" + strings.Repeat("1f", 32) + ".wasm"} {
		if status, text := get(path); status != http.StatusNotFound {
			t.Errorf("%s: got %d %q, want 404", path, status, text)
		}
	}
}
