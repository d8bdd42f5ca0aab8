//go:build !js && !wasip1

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/engine"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/internal/testing/wire"
	"github.com/seed-49bee653/samestep/kit/netsim"
)

// Real TCP and real UDP lose 3 % of their packets between the network of a server and that of its players. Frames that come in
// datagrams are much less late, and the match is the same for all.
func TestWire(t *testing.T) {
	if os.Getenv("SAMESTEP_NAMESPACES") == "" {
		t.Skip("SAMESTEP_NAMESPACES is not set: browsers in other tests load again when a network comes or goes")
	}
	link, err := netsim.Parse("delay=40ms loss=3% seed=5")
	if err != nil {
		t.Fatal(err)
	}
	w, err := wire.NewNamespace(link)
	testenv.Or(t, "the right to make network namespaces", err)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	b := &engine.NetBench{Game: ours[0].game, Program: "samestep", Clients: 8, Room: 8, Override: []byte(`{"Units":100}`), Rate: 20, Every: time.Second, Time: 8 * time.Second, Durability: "interval"}
	r, err := b.RunWire(t.Context(), link, dir)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	r.Print(&text)
	t.Logf("\n%s", &text)
	if s, d := r.WebSocket.Behind.P99MS, r.Datagrams.Behind.P99MS; !r.Real || 2*d > s {
		t.Errorf("1 of 100 frames is late by %.1f ms with datagrams, and by %.1f ms without: want less than half", d, s)
	}
	for _, s := range []engine.SideResult{r.WebSocket, r.Datagrams} {
		if s.Agreed == 0 || s.Differing > 0 || s.Lost > 0 {
			t.Errorf("got %+v, want equal checksums and no lost connection", s)
		}
	}
	if r.WebSocket.ByDatagrams != 0 || r.Datagrams.ByDatagrams != 8 {
		t.Errorf("%d and %d players have datagrams, want 0 and 8", r.WebSocket.ByDatagrams, r.Datagrams.ByDatagrams)
	}
	replays, err := filepath.Glob(filepath.Join(dir, "*", "matches", "live", "match-1-*.ssr"))
	if err != nil || len(replays) != 2 {
		t.Fatal(err, replays)
	}
	for _, file := range replays { // which end where the servers were killed
		text.Reset()
		tooltest.Run(t.Context(), []string{"samestep", "replay", "verify", file}, &text, &text)
		if !strings.Contains(text.String(), "equal, 0 differ") || !strings.Contains(text.String(), "true up to tick ") {
			t.Errorf("verify %s: got %s", file, &text)
		}
	}
}
