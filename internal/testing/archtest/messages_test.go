package archtest

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// senders returns the kinds of messages that lockstep/protocol describes, and which
// ends of a connection send each: "client", "server" or both.
func senders(tr *tree) map[string][]string {
	kinds := map[string][]string{}
	for _, f := range tr.find("lockstep/protocol").files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isName := pair.Key.(*ast.Ident)
			row, isRow := pair.Value.(*ast.CompositeLit)
			if isName && isRow && len(row.Elts) == 3 {
				ast.Inspect(row.Elts[1], func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						kinds[key.Name] = append(kinds[key.Name], id.Name)
					}
					return true
				})
			}
			return true
		})
	}
	return kinds
}

// receives reports whether a package compares a message's kind with one.
func receives(p *pkg, kind string) (found bool) {
	for _, f := range p.files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			var compared []ast.Expr
			switch n := n.(type) {
			case *ast.CaseClause:
				compared = n.List
			case *ast.BinaryExpr:
				compared = []ast.Expr{n.X, n.Y}
			}
			found = found || slices.ContainsFunc(compared, func(e ast.Expr) bool {
				s, ok := e.(*ast.SelectorExpr)
				return ok && s.Sel.Name == kind
			})
			return !found
		})
	}
	return found
}

// unreceived returns the kinds of messages that the other end does not take.
func unreceived(tr *tree) (found []finding) {
	all := senders(tr)
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		for sender, receiver := range map[string]string{"client": "lockstep/host", "server": "lockstep/player"} {
			if slices.Contains(all[kind], sender) && !receives(tr.find(receiver), kind) {
				found = append(found, finding{"lockstep/protocol", 0, "message", receiver + " does not receive " + kind + " of a " + sender})
			}
		}
	}
	return found
}

// Each end of a connection receives every kind of message that the other one sends:
// an end that does not know a kind ends the connection.
func TestMessagesAreReceived(t *testing.T) {
	if n := len(senders(ours(t))); n < 18 {
		t.Fatalf("found %d described kinds of messages, want at least 18", n)
	}
	report(t, unreceived(ours(t)))
}

func TestMessagesAreReceivedControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"lockstep/protocol/a.go": "package protocol\nvar d = [9]description{\n\tKindA: {\"a\", client, nil},\n\tKindB: {\"b\", client | server, nil},\n\tKindC: {\"c\", server, nil},\n}",
		"lockstep/host/a.go":     "package host\nfunc f(k protocol.Kind) bool {\n\tswitch k {\n\tcase protocol.KindB:\n\t}\n\treturn k == protocol.KindA\n}",
		"lockstep/player/a.go":   "package player\nvar sent = protocol.KindB\nfunc f(k protocol.Kind) bool { return k == protocol.KindC }",
	})
	expect(t, unreceived(tr), "lockstep/protocol:0: message: lockstep/player does not receive KindB of a server")
}
