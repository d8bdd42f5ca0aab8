package archtest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// clusterFindings looks for what makes a program link the storage of a cluster, whose client and node would double it.
func clusterFindings(tr *tree, program string) []finding {
	var found []finding
	todo, seen := []string{program}, map[string]bool{program: true}
	for len(todo) > 0 {
		at := slices.IndexFunc(tr.pkgs, func(p *pkg) bool { return p.path == todo[0] })
		todo = todo[1:]
		if at < 0 {
			continue
		}
		for _, f := range tr.pkgs[at].files {
			for _, spec := range f.ast.Imports {
				name, _ := strconv.Unquote(spec.Path.Value)
				own, isOwn := strings.CutPrefix(name, tr.module+"/")
				switch {
				case f.test:
				case under("github.com/nats-io/...", name):
					found = append(found, finding{f.name, tr.line(spec.Pos()), "cluster", program + " links " + strings.TrimPrefix(name, tr.module+"/")})
				case isOwn && !seen[own]:
					seen[own] = true
					todo = append(todo, own)
				}
			}
		}
	}
	return found
}

func TestToolWithoutCluster(t *testing.T) {
	tr := ours(t)
	if tr.find("cmd/samestep") == nil {
		t.Fatal("there is no cmd/samestep")
	}
	report(t, clusterFindings(tr, "cmd/samestep"))
}

func TestToolWithoutClusterControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"cmd/a/a.go":   "package main\nimport \"example.test/m/b\"",
		"b/b.go":       "package b\nimport (\n\"example.test/m/cluster\"\n\"github.com/nats-io/nats.go\"\n)",
		"b/b_test.go":  "package b\nimport \"github.com/nats-io/nats-server/v2/server\"",
		"cluster/x.go": "package cluster\nimport \"github.com/nats-io/nats.go\"",
	})
	expect(t, clusterFindings(tr, "cmd/a"),
		"b/b.go:4: cluster: cmd/a links github.com/nats-io/nats.go",
		"cluster/x.go:2: cluster: cmd/a links github.com/nats-io/nats.go",
	)
}
