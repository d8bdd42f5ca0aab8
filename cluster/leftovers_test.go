package cluster_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cluster"
)

// The file that a crash has left of a match goes when another server plays the match. One of a match that the cluster does not know
// stays, and so does one that a server with the same folder writes.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSite(t, "a", node.URL(), 1)
	m := a.create(t, "duel")
	ada := join(t, "ada-ada-ada-ada-ada", "duel", a)
	await(t, "tick 20", func() bool { return ada.now() >= 20 })
	crashed := filepath.Join(t.TempDir(), "live")
	if err := os.Mkdir(crashed, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(m.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(m.ReplayPath())
	left, unknown := filepath.Join(crashed, name), filepath.Join(crashed, strings.Replace(name, "duel", "other", 1))
	for _, path := range []string{left, unknown} {
		if err := os.WriteFile(path, log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := newSiteAs(t, "b", node.URL(), 1, "", func(o *cluster.Options) { o.Dir = filepath.Dir(crashed) })
	await(t, "the file is removed", func() bool {
		_, err := os.Stat(left)
		return errors.Is(err, fs.ErrNotExist)
	})
	if !strings.Contains(b.log.String(), "another server has the match") {
		t.Error("nobody is told of the file")
	}
	c := newSiteAs(t, "c", node.URL(), 1, "", func(o *cluster.Options) { o.Dir = a.dir })
	seen := ada.now()
	await(t, "the match goes on", func() bool { return ada.now() > seen+40 })
	for _, path := range []string{unknown, m.ReplayPath()} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if strings.Contains(c.log.String(), "removed") {
		t.Error("c removes the file of a match that a plays")
	}
}
