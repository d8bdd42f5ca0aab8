package storage_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A node whose server has stopped storing starts it again at the same address as soon as its folder can be written to, and
// says both. It has the same keys and logs.
func TestRevive(t *testing.T) {
	t.Parallel()
	user, seed, err := storage.NewUser(storage.ServerRole)
	if err != nil {
		t.Fatal(err)
	}
	key, dir := filepath.Join(t.TempDir(), "server.nk"), filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(key, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer // read after Stop
	o := storage.NodeOptions{Name: "a", Dir: dir, Users: []storage.User{user}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	o.Hurry()
	node, err := storage.StartNode(o)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Stop()
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Seed: key, Role: storage.ServerRole})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Setup(t.Context(), storage.Layout{}); err != nil {
		t.Fatal(err)
	}
	_, subject := conn.LogOf(lockstep.MatchID{1})
	if _, err := conn.JS.Publish(t.Context(), subject, []byte("before"), jetstream.WithExpectLastSequencePerSubject(0)); err != nil {
		t.Fatal(err)
	}
	room := filepath.Join(dir, "room") // which the node writes to see whether it can
	if err := os.MkdirAll(filepath.Join(room, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := node.Fail(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * storage.HurriedLook)
	if !node.Failed() {
		t.Error("the node stores, and has no folder")
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(room); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := conn.JS.Publish(t.Context(), subject, []byte("after"), jetstream.WithExpectLastSequencePerSubject(1))
		if err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	node.Stop()
	if text := log.String(); strings.Count(text, "cannot store anything") != 1 || strings.Count(text, "stores again") != 1 {
		t.Errorf("the log of the node: %s", text)
	}
}
