//go:build unix

package clustertool_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep-cluster/clustertool"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A nodeSet is some storage nodes of one cluster.
type nodeSet struct {
	t      *testing.T
	dir    string
	routes []string
	urls   map[string]string
	stops  map[string]func()
}

// newNodeSet starts three nodes, a, b and c, with the streams of a cluster.
func newNodeSet(t *testing.T) *nodeSet {
	t.Helper()
	s := &nodeSet{t: t, dir: t.TempDir(), urls: map[string]string{}, stops: map[string]func(){}}
	for range 3 {
		s.routes = append(s.routes, freeAddress(t))
	}
	for i, name := range []string{"a", "b", "c"} {
		s.start(name, name, s.routes[i])
	}
	conn, err := storage.Dial(s.urls["a"], storage.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := conn.Setup(ctx, storage.Layout{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	return s
}

// start starts a node with its files in a folder.
func (s *nodeSet) start(name, folder, address string) {
	s.t.Helper()
	routes := ""
	for _, r := range append([]string{address}, s.routes...) {
		routes += " --route " + r
	}
	s.urls[name], s.stops[name] = stoppable(s.t, "storage at ", fmt.Sprintf("storage --name %s --listen 127.0.0.1:0 --cluster %s --dir %s%s", name, address, filepath.Join(s.dir, folder), routes))
}

// status returns what "storage status" prints, with these nodes as --nats.
func (s *nodeSet) status(nodes ...string) string {
	s.t.Helper()
	return command(s.t, 0, "storage status"+s.nats(nodes...))
}

func (s *nodeSet) nats(nodes ...string) string {
	var urls []string
	for _, n := range nodes {
		urls = append(urls, s.urls[n])
	}
	return " --nats " + strings.Join(urls, ",")
}

// advised waits until the status advises a verb, and types what it prints.
func (s *nodeSet) advised(verb string, nodes ...string) {
	s.t.Helper()
	line := ""
	await(s.t, "the status advises "+verb, func() bool {
		_, after, ok := strings.Cut(s.status(nodes...), "samestep-cluster storage "+verb)
		line, _, _ = strings.Cut(after, "\n")
		return ok
	})
	command(s.t, 0, "storage "+verb+line, "11 of 11 streams are whole")
}

// well waits until the status finds no fault.
func (s *nodeSet) well(nodes ...string) {
	s.t.Helper()
	await(s.t, "the status finds no fault", func() bool {
		text := s.status(nodes...)
		return !strings.Contains(text, "\n  ") && strings.Contains(text, "3 of 3")
	})
}

// The commands that "storage status" prints for each fault are run as printed, and mend it.
func TestAdvice(t *testing.T) {
	t.Parallel()
	s := newNodeSet(t)
	s.well("a", "b", "c")
	s.refuse()
	s.well("a", "b", "c")
	s.stops["c"]() // lost for ever, and replaced by another name
	await(t, "a dead node is shown", func() bool { return strings.Contains(s.status("c", "a"), "node c does not answer") })
	s.start("d", "d", freeAddress(t))
	s.advised("replace c d", "c", "a")
	s.well("a", "b", "d")
	s.stops["b"]() // lost for ever, and replaced by its own name
	await(t, "a dead node is shown", func() bool { return strings.Contains(s.status("a"), "replace b b") })
	s.start("b", "empty", s.routes[1])
	command(t, 0, "storage replace b b"+s.nats("a"), "11 of 11 streams are whole")
	s.well("a", "b", "d")
	if testenv.Small(t) {
		return
	}
	s.start("e", "e", freeAddress(t)) // a fourth
	s.advised("add e", "a")
	s.well("e")
	s.stops["d"]() // lost for ever, and the others are enough
	s.advised("remove d", "a")
	s.well("a", "b", "e")
	s.stops["b"]() // no majority
	s.stops["e"]()
	await(t, "no majority", func() bool {
		return strings.Contains(s.status("a"), "of 3 nodes these do not: b, e\n  start them again with their own folders")
	})
	s.start("b", "empty", s.routes[1])
	s.start("e", "e", freeAddress(t))
	s.well("a", "b", "e")
}

// refuse types what would leave too few nodes, or names none: it is refused before anything moves.
func (s *nodeSet) refuse() {
	s.t.Helper()
	for line, want := range map[string]string{
		"storage remove c":                  "without node c only 2 nodes are up, want 3 for all copies; start another one first",
		"storage drain c":                   "without node c only 2 nodes are up",
		"storage remove x":                  `got node "x", want one of ["a" "b" "c"]`,
		"storage replace c x --deadline 1s": "node x did not join",
		"storage add x --deadline 1s":       "node x did not join",
	} {
		command(s.t, 1, line+s.nats("a"), want)
	}
	command(s.t, 2, "storage replace c"+s.nats("a"), "got 1 argument, want OLD NEW")
	command(s.t, 2, "storage rm c", `unexpected argument "rm"`)
}

// A key of a server looks, and changes no node; one of an operator does both.
func TestWhoChangesNodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command(t, 0, "keys new --dir "+dir+"/keys")
	url := background(t, "storage at ", "storage --name a --listen 127.0.0.1:0 --dir "+dir+"/a --node-users "+dir+"/keys/users.txt")
	as := func(role string) string { return " --nats " + url + " --nats-nkey " + dir + "/keys/" + role + ".nk" }
	for _, role := range []string{"server", "operator"} {
		command(t, 0, "storage status"+as(role), "alive", "GiB")
		command(t, 0, "storage status --json"+as(role), `"majority": true`, `"faults": null`)
	}
	command(t, 1, "storage remove a"+as("operator"), "without node a only 0 nodes are up, want 2")
	for _, role := range []string{"mirror", "worker"} {
		var out bytes.Buffer
		if code := clustertool.Run(t.Context(), append([]string{"samestep-cluster"}, strings.Fields("storage status"+as(role))...), &out, &out, games.All()...); code != 1 || !strings.Contains(out.String(), "it needs a key of role operator") {
			t.Errorf("%s: got %d and %s", role, code, &out)
		}
	}
}
