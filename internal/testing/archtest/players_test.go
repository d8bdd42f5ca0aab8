package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A player has one number, that of its seat, from 0 on: in texts, JSON, pages and names. So whoever reads of player 3 in a report
// finds player 3 in the viewer.
var (
	numberedVerb = regexp.MustCompile(`(?i)\b(?:player|seat|bot) %(\[\d+\])?d`)
	anyVerb      = regexp.MustCompile(`%[^%a-zA-Z]*[a-zA-Z]`)
	fromOne      = regexp.MustCompile(`(?i)\b(?:seat|player)(?:\.\w+)? *\+ *1\b`)
)

// notNumbers are lines of scripts that add one to a seat for another purpose than to show it.
var notNumbers = map[string]string{
	"page/parts/timeline.js: const bottom = top + (player + 1) * high;": "the lower end of a row",
}

// countedFromOne looks for formats in Go that number a player, a seat or a bot with one added.
func countedFromOne(tr *tree) (found []finding, seen int) {
	var paths []string
	for _, p := range tr.pkgs {
		paths = append(paths, p.path)
	}
	tr.calls(paths, func(f *file, _ *ast.FuncDecl, call *ast.CallExpr) {
		at := slices.IndexFunc(call.Args, func(a ast.Expr) bool {
			lit, ok := a.(*ast.BasicLit)
			return ok && lit.Kind == token.STRING && numberedVerb.MatchString(lit.Value)
		})
		if at < 0 {
			return
		}
		format := call.Args[at].(*ast.BasicLit).Value
		for _, m := range numberedVerb.FindAllStringIndex(format, -1) {
			seen++
			i := at + len(anyVerb.FindAllString(strings.ReplaceAll(format[:m[1]], "%%", ""), -1))
			if i >= len(call.Args) {
				continue
			}
			if sum, ok := call.Args[i].(*ast.BinaryExpr); ok && sum.Op == token.ADD {
				found = append(found, finding{f.name, tr.line(call.Pos()), "players", "a player's number is that of its seat, from 0 on: " + strconv.Quote(format[m[0]:m[1]]) + " gets a sum"})
			}
		}
	})
	return found, seen
}

// scriptsFromOne looks for lines of a script that add one to a seat.
func scriptsFromOne(name string, content []byte) (found []finding) {
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		if text := strings.TrimSpace(line); fromOne.MatchString(text) && notNumbers[name+": "+text] == "" {
			found = append(found, finding{name, n, "players", "a player's number is that of its seat, from 0 on: " + text})
		}
	}
	return found
}

func TestPlayersAreNumberedBySeat(t *testing.T) {
	tr := ours(t)
	found, seen := countedFromOne(tr)
	report(t, found)
	names, err := tracked(tr.dir)
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for _, name := range names {
		if filepath.Ext(name) != ".js" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(tr.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		scripts++
		report(t, scriptsFromOne(name, b))
	}
	if seen < 50 || scripts < 20 {
		t.Errorf("looked at %d formats and %d scripts, want more", seen, scripts)
	}
}

func TestPlayersControl(t *testing.T) {
	found, _ := countedFromOne(treeOf(t, map[string]string{"a/a.go": `package a

import "fmt"

func f(t, p int) {
	fmt.Printf("100 %% of tick %d: player %d", t+1, p)
	fmt.Printf("tick %d: player %d", t, p+1)
	_ = fmt.Sprintf("bot %d", p+1)
}
`}))
	expect(t, found, "a/a.go:7: players", "a/a.go:8: players")
	expect(t, scriptsFromOne("a.js", []byte("at(seat);\nt(\"player {n}\", { n: seat + 1 });\nlet x = who.player+1;\n")), "a.js:2: players", "a.js:3: players")
}
