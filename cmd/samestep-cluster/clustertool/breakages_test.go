//go:build unix

package clustertool_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
)

// slowly listens for connections to a storage node, whose answers it delays.
func slowly(t *testing.T, url string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", strings.TrimPrefix(url, "nats://"))
			if err != nil {
				c.Close()
				continue
			}
			go func() { defer s.Close(); io.Copy(s, c) }()
			go func() {
				defer c.Close()
				for b := make([]byte, 1<<16); ; {
					n, err := s.Read(b)
					time.Sleep(250 * time.Millisecond)
					if _, werr := c.Write(b[:n]); err != nil || werr != nil {
						return
					}
				}
			}()
		}
	}()
	return "nats://" + l.Addr().String()
}

// mirrorPause is between two requests to a mirror, which has a budget for each address.
const mirrorPause = 150 * time.Millisecond

// clusterBreakages say how a cluster is made, and broken, and which alerts fire then. brk is called before each scrape of the
// broken cluster.
var clusterBreakages = []struct {
	want  []string
	begin func(w *watch) (brk func(n int))
}{
	{[]string{"SamestepClusterDown"}, func(w *watch) func(int) {
		w.node("a", "")
		return func(int) { w.down = slices.Collect(maps.Keys(w.jobs))[0] }
	}},
	{[]string{"SamestepNoLease"}, func(w *watch) func(int) {
		nats, stop := w.node("a", "")
		server, _ := w.server("one", nats, "--game minimal")
		w.jobs = map[string]string{server: "samestep"}
		return func(n int) {
			if n > 0 {
				return
			}
			stop()
			await(w.t, "the lease is old", func() bool { return w.value(server, "samestep_cluster_lease_age_seconds") > 6 })
		}
	}},
	{[]string{"SamestepStorageSlow"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		w.server("one", nats, "--game minimal --set start=now")
		var slow string
		return func(n int) {
			if n == 0 {
				slow, _ = w.server("two", slowly(w.t, nats), "--game minimal --set start=now --matches 2")
			}
			before := w.value(slow, "samestep_cluster_append_seconds_count")
			await(w.t, "it appends something", func() bool { return w.value(slow, "samestep_cluster_append_seconds_count") > before })
		}
	}},
	{[]string{"SamestepTakeoverFailed", "SamestepMatchFailed"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		one, stop := w.server("one", nats, "--game minimal")
		two, _ := w.server("two", nats, "--game minimal --matches 0")
		delete(w.jobs, one)
		return func(n int) {
			if n > 0 {
				return
			}
			live := filepath.Join(w.dir, "two", "live")
			if err := os.RemoveAll(live); err != nil {
				w.t.Fatal(err)
			}
			if err := os.WriteFile(live, nil, 0o600); err != nil {
				w.t.Fatal(err)
			}
			stop()
			await(w.t, "a match has failed", func() bool { return w.value(two, `samestep_cluster_matches{state="failed"}`) > 0 })
		}
	}},
	{[]string{"SamestepTakeoverHung", "SamestepTakeoverFailed", "SamestepMatchFailed"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		one, stop := w.server("one", nats, "--game minimal --set start=now")
		end := make(chan struct{})
		rules := minimal.Rules()
		rules.Step = func(*minimal.World, *minimal.Config, *lockstep.Turn) { <-end }
		two, _ := w.serverWith("two", nats, "--game minimal --matches 0", tool.New(rules, tool.Config(minimal.Usual)))
		w.t.Cleanup(func() { close(end) }) // before the server stops
		delete(w.jobs, one)
		return func(n int) {
			if n == 0 {
				stop()
				await(w.t, "the match has failed", func() bool { return w.value(two, `samestep_cluster_matches{state="failed"}`) > 0 })
			}
		}
	}},
	{[]string{"SamestepMatchWaiting"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		one, stop := w.server("one", nats, "--game minimal")
		two, _ := w.server("two", nats, "--game skirmish --matches 0")
		delete(w.jobs, one)
		return func(n int) {
			if n == 0 {
				stop()
				await(w.t, "a match waits", func() bool { return w.value(two, `samestep_cluster_matches{state="waiting"}`) > 0 })
			}
		}
	}},
	{[]string{"SamestepStorageNodeLost"}, func(w *watch) func(int) { return w.threeNodes(1) }},
	{[]string{"SamestepStorageNodeLost", "SamestepStorageCopies"}, func(w *watch) func(int) {
		lose := w.threeNodes(1)
		conn, err := storage.Dial(w.nats, storage.DialOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.Setup(w.t.Context(), storage.Layout{Replicas: 3}); err != nil {
			w.t.Fatal(err)
		}
		missing := func() (n float64) {
			for url := range w.jobs {
				n += w.value(url, "samestep_storage_copies_missing")
			}
			return n
		}
		await(w.t, "no copy is missing", func() bool { return missing() == 0 })
		return func(n int) {
			if lose(n); n == 0 {
				await(w.t, "copies are missing", func() bool { return missing() > 0 })
			}
		}
	}},
	{[]string{"SamestepStorageNotReady", "SamestepStorageNodeLost"}, func(w *watch) func(int) { return w.threeNodes(2) }},
	{[]string{"SamestepMirrorBehind"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		server, stop := w.server("one", nats, "--game minimal --set start=now --set anonymous-spectators=true")
		conn, err := storage.Dial(nats, storage.DialOptions{Name: "the owner"})
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(conn.Close)
		mirror := strings.TrimSuffix(background(w.t, "mirror at ", "mirror --listen 127.0.0.1:0 --nats "+nats), "/")
		w.jobs = map[string]string{}
		var id lockstep.MatchID
		await(w.t, "the mirror follows the match", func() bool {
			time.Sleep(mirrorPause)
			a, err := w.client.Get(mirror + "/matches/match-1")
			if err != nil {
				w.t.Fatal(err)
			}
			defer a.Body.Close()
			var view struct{ Match string }
			if a.StatusCode != http.StatusOK || json.NewDecoder(a.Body).Decode(&view) != nil {
				return false
			}
			_, err = hex.Decode(id[:], []byte(view.Match))
			return err == nil
		})
		w.jobs = map[string]string{mirror: "samestep-mirror"}
		return func(n int) {
			time.Sleep(mirrorPause)
			if err := conn.TellHead(id, storage.Head{Sequence: 1<<32 + uint64(n), Tick: 1 << 20}); err != nil {
				w.t.Fatal(err)
			}
			if n > 0 {
				return
			}
			stop()
			await(w.t, "the match is dark", func() bool {
				time.Sleep(mirrorPause)
				return w.value(mirror, "samestep_mirror_dark_matches") == 1
			})
			a, err := w.client.Get(mirror + "/readyz")
			if err != nil {
				w.t.Fatal(err)
			}
			a.Body.Close()
			if a.StatusCode != http.StatusServiceUnavailable {
				w.t.Errorf("the mirror is ready: got %s", a.Status)
			}
			if answers(server) {
				w.t.Error("the server goes on")
			}
		}
	}},
	{[]string{"SamestepMirrorRefuses"}, func(w *watch) func(int) {
		nats, _ := w.node("a", "")
		server, _ := w.server("one", nats, "--game minimal --set anonymous-spectators=true")
		mirror := strings.TrimSuffix(background(w.t, "mirror at ", "mirror --listen 127.0.0.1:0 --max-per-address 1 --upstream "+server), "/")
		w.jobs = map[string]string{mirror: "samestep-mirror"}
		play := strings.Replace(mirror, "http", "ws", 1) + "/matches/match-1/play"
		return func(int) {
			for range 15 {
				ctx, cancel := context.WithTimeout(w.t.Context(), patience)
				if c, _, err := websocket.Dial(ctx, play, &websocket.DialOptions{Subprotocols: []string{client.Subprotocol}}); err == nil {
					w.t.Cleanup(func() { c.CloseNow() })
				}
				cancel()
			}
			time.Sleep(mirrorPause)
		}
	}},
}

// threeNodes starts three nodes. The first time it is called, what it returns stops some.
func (w *watch) threeNodes(lost int) func(int) {
	routes := ""
	var addresses []string
	for range 3 {
		addresses = append(addresses, freeAddress(w.t))
		routes += " --route " + addresses[len(addresses)-1]
	}
	var stops []func()
	for i, name := range []string{"a", "b", "c"} {
		url, stop := w.node(name, "--cluster "+addresses[i]+routes)
		if i == 0 {
			w.nats = url
		} else {
			stops = append(stops, stop)
		}
	}
	urls := slices.Collect(maps.Keys(w.jobs))
	await(w.t, "the nodes are one storage", func() bool {
		return !slices.ContainsFunc(urls, func(url string) bool {
			return w.value(url, "samestep_storage_ready") != 1 || w.value(url, "samestep_storage_connected") != 3
		})
	})
	return func(n int) {
		if n > 0 {
			return
		}
		for _, stop := range stops[:lost] {
			stop()
		}
		for url := range w.jobs { // what does not answer is another alert
			if !answers(url) {
				delete(w.jobs, url)
			}
		}
		await(w.t, "a node is lost", func() bool {
			for url := range w.jobs {
				if w.value(url, "samestep_storage_connected") != float64(3-lost) || lost > 1 && w.value(url, "samestep_storage_ready") > 0 {
					return false
				}
			}
			return true
		})
	}
}

// answers reports whether something listens at a URL.
func answers(url string) bool {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return false
	}
	c.Close()
	return true
}
