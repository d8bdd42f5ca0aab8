package cluster_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/storage"
)

// With three copies of the log a node that was deposed still answers reads. A server that cannot store gives its match up all
// the same, so that its players look for it elsewhere.
func TestReadsAlone(t *testing.T) {
	t.Parallel()
	routes := freeAddresses(t, 3)
	var urls []string
	for i, route := range routes {
		n, err := storage.StartNode(storage.NodeOptions{Name: fmt.Sprint("node-", i), Dir: t.TempDir(), Cluster: route, Routes: routes})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Stop)
		urls = append(urls, n.URL())
	}
	a := newSiteAs(t, "a", strings.Join(urls, ","), 3, "", func(o *cluster.Options) { o.GiveUpEarly(2 * time.Second) })
	m := a.create(t, "duel")
	ada := join(t, "ada-ada-ada-ada-ada", "duel", a)
	await(t, "tick 20", func() bool { return ada.now() >= 20 })
	for i := range streams {
		stream, err := a.conn.JS.Stream(t.Context(), fmt.Sprint("samestep-log-", i))
		if err != nil {
			t.Fatal(err)
		}
		config := stream.CachedInfo().Config
		config.MaxMsgSize = 1 // of appends
		if _, err := a.conn.JS.UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-m.Done():
	case <-time.After(patience):
		t.Error("the server keeps the match")
	}
}

// freeAddresses returns addresses on loopback that nobody listens on.
func freeAddresses(t *testing.T, n int) (all []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}
