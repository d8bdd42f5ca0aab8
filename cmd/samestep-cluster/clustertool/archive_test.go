//go:build unix

package clustertool_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/server/archive"
)

// With an archive of nats: a replay moves to the cluster's storage when its match is over, and every server has it.
func TestArchiveInStorage(t *testing.T) {
	t.Parallel()
	f, err := fleet.Start(t.Context(), fleet.Options{Program: program(t), Dir: t.TempDir(), Nodes: 1, Servers: 2, Game: "minimal", Flags: []string{"--set", "archive=nats:"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if err := f.Create(t.Context(), f.Servers[0], "duel", 2); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if err := f.End(t.Context(), f.Servers[0], "duel"); err != nil {
		t.Fatal(err)
	}
	store, name := objects.New(f.Conn), ""
	await(t, "the replay is in the storage", func() bool {
		err := store.List(t.Context(), func(o archive.Object) error {
			if strings.HasPrefix(o.Name, "duel-") && strings.HasSuffix(o.Name, ".ssr") && o.SizeBytes > 0 {
				name = o.Name
			}
			return nil
		})
		return err == nil && name != ""
	})
	for _, s := range f.Servers {
		await(t, s.Name+" has the replay", func() bool { return strings.HasPrefix(get(t, s.URL+"/replays/"+name), "\x89SSR") })
		await(t, s.Name+" lists it", func() bool { return strings.Contains(get(t, s.URL+"/replays?match=duel"), name) })
		dir := filepath.Join(f.Dir(), s.Name)
		out := command(t, 0, "index --dir "+dir+" --nats "+f.Conn.NATS.ConnectedUrl()+" nats:", "1 file in")
		if !strings.Contains(out, dir) {
			t.Errorf("got %q", out)
		}
	}
	command(t, 1, "index --nats nats://127.0.0.1:1 nats:", "no servers available")
}

// get returns the body of an answer 200, or "".
func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		return ""
	}
	return string(b)
}
