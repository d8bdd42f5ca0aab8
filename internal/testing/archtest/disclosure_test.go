package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// rawReaders read the log of a match that may still run, or serve files of matches. Each is a function of a package, or a method of
// what has this name.
var rawReaders = []string{
	"audience.NewLog", "host.NewRecovery", "ownership.Reader", "replay.OpenLive", "conn.Tail",
	"m.openSave", "replays.open", "replays.openFile", "Archive.Open", "store.Open", "store.Fetch",
}

// A logReader is a package that calls one of them, why nobody learns from it what the log hides, and the test of that.
type logReader struct{ path, reader, why, test string }

// logReaders are the packages that may call rawReaders. Whatever gives a log to others asks package disclosure, and has a test with each
// policy. [disclosure.Policy] itself has disclosure.TestPolicy: each reader under each policy.
var logReaders = []logReader{
	{"server", "host.NewRecovery", "the server itself, whose host keeps the policy of the log", "lockstep/host.TestRecoveryKeepsDisclosure"},
	{"cluster", "ownership.Reader", "copies the log for the server that resumes it", "lockstep/host.TestRecoveryKeepsDisclosure"},
	{"cluster", "conn.Tail", "the same", "lockstep/host.TestRecoveryKeepsDisclosure"},
	{"cluster/mirror", "audience.NewLog", "the Log gives nothing before it has the policy", "cluster/audience.TestDisclosure"},
	{"cluster/mirror", "ownership.Reader", "only for that Log", "cluster/mirror.TestHiddenMatches"},
	{"cluster/mirror", "conn.Tail", "only for that Log", "cluster/mirror.TestDelayOfTheLog"},
	{"cmd/samestep/tool/internal/replays", "replay.OpenLive", "the LiveReader obeys, unless the owner of the file says otherwise", "replay.TestLiveDisclosure"},
	{"server", "m.openSave", "asks Policy.Files; Match.Save is for the program of the server", "server.TestReaders"},
	{"server", "replays.open", "asks Policy.Files, by the lock of the file", "server.TestReplaysOverHTTP"},
	{"server", "replays.openFile", "the same; a bundle as the replay that it belongs to", "server.TestPublicBundles"},
	{"server", "Archive.Open", "files of matches that are over, as the operator says who reads them", "server.TestArchiveAccess"},
	{"server/archive", "store.Open", "a store has only files of matches that are over", "server/archive.TestScripts"},
	{"cluster/farm", "store.Fetch", "a worker gets what is in the store, and tells only verdicts", "cluster/storage.TestWorkerWorks"},
	{"replay", "host.NewRecovery", "begins a match of the operator in a state of another one, with a policy of its own", "replay.TestReadOrigin"},
}

// disclosurePlaces are the files that may read the options of a policy: they make the policy of them.
var disclosurePlaces = []string{"lockstep/host/options.go", "lockstep/host/host.go"}

// disclosureFindings looks for code that reads logs, or decides who sees what, without package disclosure.
func disclosureFindings(tr *tree, readers []logReader) (found []finding) {
	used := map[logReader]bool{}
	for _, p := range tr.pkgs {
		if strings.HasPrefix(p.path, "internal/testing/") {
			continue
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			set := assigned(f.ast)
			ast.Inspect(f.ast, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if name := rawReader(s); name != "" {
					if i := slices.IndexFunc(readers, func(r logReader) bool { return r.path == p.path && r.reader == name }); i >= 0 {
						used[readers[i]] = true
					} else {
						found = append(found, finding{f.name, tr.line(s.Pos()), "disclosure", name + " reads the log of a match that may run, or its files: ask package disclosure what may be passed on, and add the reader to the table"})
					}
				}
				if isPolicyOption(s) && !set[s] && !slices.Contains(disclosurePlaces, f.name) {
					found = append(found, finding{f.name, tr.line(s.Pos()), "disclosure", s.Sel.Name + " is only the wish of an option: ask the disclosure.Policy of the match"})
				}
				return true
			})
		}
	}
	for _, r := range readers {
		if wrong := tr.wrongTest(r.test, r.path); wrong != "" || r.test == "" {
			found = append(found, finding{r.path, 0, "disclosure", r.reader + " has no test: " + wrong})
		}
		if !used[r] {
			found = append(found, finding{r.path, 0, "disclosure", "does not use " + r.reader + " any more"})
		}
	}
	return found
}

// rawReader returns which of rawReaders a selector names, or "".
func rawReader(s *ast.SelectorExpr) string {
	of := ""
	switch x := s.X.(type) {
	case *ast.Ident:
		of = x.Name
	case *ast.SelectorExpr:
		of = x.Sel.Name
	}
	for _, name := range rawReaders {
		if first, method, _ := strings.Cut(name, "."); method == s.Sel.Name && strings.EqualFold(first, of) {
			return name
		}
	}
	return ""
}

// isPolicyOption reports whether a selector is host.Options.SpectatorDelay or host.Options.Views.Only.
func isPolicyOption(s *ast.SelectorExpr) bool {
	views, ok := s.X.(*ast.SelectorExpr)
	return s.Sel.Name == "SpectatorDelay" || s.Sel.Name == "Only" && ok && views.Sel.Name == "Views"
}

// assigned returns the selectors to which a file assigns.
func assigned(f *ast.File) map[*ast.SelectorExpr]bool {
	all := map[*ast.SelectorExpr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, e := range a.Lhs {
				if s, ok := e.(*ast.SelectorExpr); ok {
					all[s] = true
				}
			}
		}
		return true
	})
	return all
}

// Nothing reads the log of a running match for others, serves files of matches, or decides who sees what, without being in the table.
func TestDisclosure(t *testing.T) { report(t, disclosureFindings(ours(t), logReaders)) }

func TestDisclosureControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/a.go":                  "package a\nfunc f(conn c) {\n_ = audience.NewLog(nil)\n_ = conn.Tail(1)\n_ = m.tail.Tail(2)\n_ = s.Store.Open(3)\nreplay.OpenLive(x, y)\n}",
		"a/a_test.go":             "package a\nfunc TestA() { _ = audience.NewLog(nil) }",
		"b/b.go":                  "package b\nfunc f(o *O) {\no.SpectatorDelay, o.Views.Only = 1, true\nif o.SpectatorDelay > 0 || o.Views.Only || o.Other.Only {\n}\n}",
		"internal/testing/x/x.go": "package x\nfunc f() { replay.OpenLive(x, y) }",
		"lockstep/host/host.go":   "package host\nvar _ = o.Views.Only",
	})
	readers := []logReader{{"a", "replay.OpenLive", "it may", "a.TestA"}, {"a", "host.NewRecovery", "it does not", "a.TestGone"}}
	expect(t, disclosureFindings(tr, readers),
		"a/a.go:3: disclosure: audience.NewLog reads the log of a match that may run, or its files: ask package disclosure what may be passed on, and add the reader to the table",
		"a/a.go:4: disclosure: conn.Tail reads the log of a match that may run, or its files: ask package disclosure what may be passed on, and add the reader to the table",
		"a/a.go:6: disclosure: store.Open reads the log of a match that may run, or its files: ask package disclosure what may be passed on, and add the reader to the table",
		"b/b.go:4: disclosure: SpectatorDelay is only the wish of an option: ask the disclosure.Policy of the match",
		"b/b.go:4: disclosure: Only is only the wish of an option: ask the disclosure.Policy of the match",
		"a:0: disclosure: host.NewRecovery has no test: there is no TestGone in a",
		"a:0: disclosure: does not use host.NewRecovery any more",
	)
}
