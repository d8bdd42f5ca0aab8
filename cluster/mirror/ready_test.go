//go:build !js

package mirror_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A mirror is ready while it can follow another match: not without its storage, with as many matches as it may have, or at its end.
func TestReady(t *testing.T) {
	ask := func(address string) (int, string) {
		a, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(text)
	}
	node, err := storage.StartNode(storage.NodeOptions{Name: "node", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Stop()
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "mirror", Role: storage.MirrorRole, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, address, _ := newMirror(t, mirror.Options{Source: mirror.Cluster{Conn: conn}})
	if status, text := ask(address); status != http.StatusOK || text != "ready\n" {
		t.Errorf("got %d %q", status, text)
	}
	node.Stop()
	eventually(t, "a mirror that is not ready", func() bool {
		status, text := ask(address)
		return status == http.StatusServiceUnavailable && strings.Contains(text, "the storage is away")
	})

	o := newOwner(t, nil)
	r, full, _ := newMirror(t, mirror.Options{Source: upstream(o.address), MaxMatches: 1})
	if status, _ := ask(full); status != http.StatusOK {
		t.Errorf("without a match: got %d", status)
	}
	if _, err := r.Follow(t.Context(), "duel"); err != nil {
		t.Fatal(err)
	}
	if status, text := ask(full); status != http.StatusServiceUnavailable || !strings.Contains(text, "got 1 matches, want less than 1") {
		t.Errorf("with a match: got %d %q", status, text)
	}
}

// A mirror whose storage node is cut off from the others is not ready, although the node answers it, and sends its spectators on.
func TestCutOffFromMajority(t *testing.T) {
	t.Parallel()
	routes := freeAddresses(t, 3)
	var nodes []*storage.Node
	for i, route := range routes {
		n, err := storage.StartNode(storage.NodeOptions{Name: fmt.Sprint("n", i), Dir: t.TempDir(), Cluster: route, Routes: routes, Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Stop)
		nodes = append(nodes, n)
	}
	conn, err := storage.Dial(nodes[0].URL(), storage.DialOptions{Name: "mirror", Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := conn.Setup(ctx, storage.Layout{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, conn, testgame.LampRules, host.Options{})
	w.list("duel")
	w.run()
	_, at := newMirrorWith(t, &syncBuffer{}, mirror.Options{Source: mirror.Cluster{Conn: conn}})
	x := watch(t, w.game, at, nil)
	eventually(t, "a spectator", func() bool { return x.tick() >= 5 })
	w.halt()
	if status, text := request(t, at+"/readyz"); status != http.StatusOK {
		t.Fatalf("got %d %q", status, text)
	}
	nodes[1].Stop()
	nodes[2].Stop()
	eventually(t, "a mirror that is not ready", func() bool {
		status, text := request(t, at+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(text, "no majority") && strings.Contains(text, "such as duel")
	})
	x.s.Close()
	if len(x.closings) == 0 || x.closings[0] != protocol.CloseBusy {
		t.Errorf("the spectator was closed for %v", x.closings)
	}
}

// freeAddresses returns addresses on loopback that nobody listens on.
func freeAddresses(t *testing.T, n int) (all []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // so that the ports differ
		all = append(all, l.Addr().String())
	}
	return all
}
