//go:build unix

package clustertool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/lockstep/archive"
	"github.com/seed-49bee653/samestep/lockstep/cluster/objects"
)

// With --archive nats: a replay moves to the cluster's storage when its match is over.
func TestArchiveInStorage(t *testing.T) {
	t.Parallel()
	f, err := fleet.Start(t.Context(), fleet.Options{Program: program(t), Dir: t.TempDir(), Nodes: 1, Servers: 1, Game: "minimal", Flags: []string{"--archive", "nats:"}})
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
	store := objects.New(f.Conn)
	await(t, "the replay is in the storage", func() bool {
		found := false
		err := store.List(t.Context(), func(o archive.Object) error {
			found = found || strings.HasPrefix(o.Name, "duel-") && strings.HasSuffix(o.Name, ".ssr") && o.SizeBytes > 0
			return nil
		})
		return err == nil && found
	})
}
