package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// loggers are the packages whose lines are about matches and connections.
var loggers = []string{"server", "cluster", "cluster/mirror", "cmd/samestep/tool/internal/serving"}

// aboutOne are the types of a match, of a connection, or of what serves one of them.
var aboutOne = []string{"Match", "conn", "recovery", "claimedLog", "matchLog", "clusterFeed", "upstreamFeed"}

// levels are the methods of a logger that write a line.
var levels = []string{"Debug", "Info", "Warn", "Error", "Log", "LogAttrs"}

// loggedFindings looks for lines about a match or a connection that package internal/logged has not begun.
func loggedFindings(tr *tree) (found []finding, lines int) {
	tr.calls(loggers, func(f *file, fn *ast.FuncDecl, call *ast.CallExpr) {
		s, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(levels, s.Sel.Name) && s.Sel.Name != "With" || len(call.Args) == 0 {
			return
		}
		lines++
		if key := ownKey(s.Sel.Name, call.Args); key != "" {
			found = append(found, finding{f.name, tr.line(call.Pos()), "logged", "the key " + key + " is for package internal/logged: ask it for a logger"})
		}
		about := subjectOf(fn)
		if of, ok := s.X.(*ast.SelectorExpr); ok && about != "" && strings.EqualFold(of.Sel.Name, "log") {
			found = append(found, finding{f.name, tr.line(call.Pos()), "logged", "a function with a " + about + " logs without it: use its own logger"})
		}
	})
	return found, lines
}

// ownKey returns the first of the words of a line that only package internal/logged writes, or "".
func ownKey(level string, args []ast.Expr) string {
	first := map[string]int{"Log": 3, "LogAttrs": 3, "With": 0}
	from, ok := first[level]
	if !ok {
		from = 1
	}
	for i := from; i < len(args); i += 2 {
		if x, ok := args[i].(*ast.BasicLit); ok && x.Kind == token.STRING && slices.Contains([]string{`"match"`, `"id"`, `"session"`}, x.Value) {
			return x.Value
		}
	}
	return ""
}

// subjectOf returns which of aboutOne a function is a method of or gets, or "".
func subjectOf(fn *ast.FuncDecl) string {
	fields := slices.Clone(fn.Type.Params.List)
	if fn.Recv != nil {
		fields = append(fields, fn.Recv.List...)
	}
	for _, f := range fields {
		if star, ok := f.Type.(*ast.StarExpr); ok {
			name := ""
			switch x := star.X.(type) {
			case *ast.Ident:
				name = x.Name
			case *ast.SelectorExpr:
				name = x.Sel.Name
			}
			if slices.Contains(aboutOne, name) {
				return name
			}
		}
	}
	return ""
}

// Each line that a server, a member of a cluster or a mirror logs about a match or a connection names the match, its id and the session. What a
// server logs is checked by package internal/testing/loglines, too.
func TestLogged(t *testing.T) {
	found, lines := loggedFindings(ours(t))
	if lines < 60 {
		t.Errorf("got %d lines, want all", lines)
	}
	report(t, found)
}

func TestLoggedControl(t *testing.T) {
	found, _ := loggedFindings(treeOf(t, map[string]string{
		"server/a.go": `package server
func (m *Match) a() { m.server.log.Info("x", "path", 1) }
func (m *Match) b() { m.logger.Info("match", "path", 1) }
func (s *Server) c(c *conn) { s.log.Warn("x") }
func (s *Server) d(name string) { s.log.Warn("x", "path", 1, "match", name) }
func (s *Server) e(name string) { s.log.With("session", name).Warn("match") }
func (m *Member) f(e *cluster.Match) { m.options.Log.Warn("x") }
func (s *Server) g() { s.log.Log(ctx, level, "match", "tick", 1) }
`,
		"server/a_test.go":    "package server\nfunc (m *Match) a() { m.server.log.Info(\"x\", \"match\", 1) }",
		"server/archive/a.go": "package archive\nfunc (m *Match) a() { m.server.log.Info(\"x\", \"match\", 1) }",
	}))
	expect(t, found,
		`server/a.go:2: logged: a function with a Match logs without it: use its own logger`,
		`server/a.go:4: logged: a function with a conn logs without it: use its own logger`,
		`server/a.go:5: logged: the key "match" is for package internal/logged: ask it for a logger`,
		`server/a.go:6: logged: the key "session" is for package internal/logged: ask it for a logger`,
		`server/a.go:7: logged: a function with a Match logs without it: use its own logger`,
	)
}
