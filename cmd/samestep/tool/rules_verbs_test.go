//go:build !js

package tool

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
)

// The budgets of verbs without flags.
const (
	budgetOfFile = "of a file"
	budgetOfJoin = "of a match that goes on"
	budgetNone   = "none unless flags set it" // the user names the game, and how long it plays
	budgetHost   = "none"                     // the operator names the modules
)

// verbBudgets lists each verb that runs modules, with its budget. Others run none.
var verbBudgets = map[string]string{
	"audit": budgetOfFile, "desync explain": budgetOfFile, "desync line": budgetOfFile, "desync triage": budgetOfFile,
	"replay bisect": budgetOfFile, "replay debug": budgetOfFile, "replay diff": budgetOfFile, "replay dump": budgetOfFile, "replay export": budgetOfFile,
	"replay feed": budgetOfFile, "replay profile": budgetOfFile, "replay rekey": budgetOfFile, "replay seek": budgetOfFile, "replay step": budgetOfFile,
	"replay verify": budgetOfFile, "rules inspect": budgetOfFile,

	"join": budgetOfJoin,

	"bench log": budgetNone, "bench net": budgetNone, "demo": budgetNone, "drill": budgetNone, "fuzz": budgetNone, "golden": budgetNone, "gym": budgetNone,
	"rules add": budgetNone, "rules check": budgetNone, "simulate": budgetNone,

	"serve": budgetHost,
}

// budgetOf returns the budget of a verb in that table.
func budgetOf(app *cli.App, verb *cli.Command) string {
	c := cli.NewContext(app, flag.NewFlagSet("", flag.ContinueOnError), nil)
	c.Command = verb
	switch b := gameset.NewBudget(c); {
	case b == nil && console.SettingOf(verb.Flags, gameset.RulesFlag.Name) != nil:
		return budgetHost
	case b == nil:
		return ""
	case b.Share > 0 && b.Time == 8*time.Second && b.Memory == 192<<20:
		return budgetOfJoin
	case b.Time == 15*time.Second && b.Memory == 192<<20:
		return budgetOfFile
	case b.Time == 0 && b.Memory == 0:
		return budgetNone
	}
	return "another one"
}

// Each verb that can run a module has the budget of the table, and no other one has one.
func TestBudgetOfEachVerb(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	seen := map[string]bool{}
	var walk func(path string, all []*cli.Command)
	walk = func(path string, all []*cli.Command) {
		for _, verb := range all {
			name := strings.TrimSpace(path + " " + verb.Name)
			if len(verb.Subcommands) > 0 {
				walk(name, verb.Subcommands)
				continue
			}
			seen[name] = true
			if got, want := budgetOf(app, verb), verbBudgets[name]; got != want {
				t.Errorf("samestep %s: got the budget %q, want %q as in verbBudgets", name, got, want)
			}
		}
	}
	walk("", app.Commands)
	for name := range verbBudgets {
		if !seen[name] {
			t.Errorf("samestep %s is no verb", name)
		}
	}
	// Control: a new verb that takes assets is not in the table, and has a budget.
	fresh := &cli.Command{Name: "fresh", Flags: []cli.Flag{gameset.AssetsFlag}}
	if gameset.TakesRules(fresh); budgetOf(app, fresh) != budgetOfFile {
		t.Errorf("a new verb: got the budget %q, want %q", budgetOf(app, fresh), budgetOfFile)
	}
}

// moduleMakers compile modules, or make machines that run them. The second argument of NewModuleGame is the budget.
var moduleMakers = []string{"Compile", "CompileTraced", "New", "Fresh", "Observer", "Within"}

// No code of the tool compiles or runs a module outside the budget of its verb.
func TestModulesHaveBudgets(t *testing.T) {
	calls := map[string]int{}
	files, err := filepath.Glob("internal/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, own...)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range unbounded(f) {
			t.Errorf("%s: %s: want the budget of NewBudget", name, found)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if of, called := callOf(n); called == "NewModuleGame" || of == "wasm" && slices.Contains(moduleMakers, called) {
				calls[called]++
			}
			return true
		})
	}
	if calls["NewModuleGame"] < 4 || calls["Compile"] != 2 || calls["CompileTraced"] != 0 {
		t.Errorf("got calls %v, want two places that compile, one of them for the interpreter, and others that use the first", calls)
	}
	for _, source := range []string{"NewModuleGame(b, nil)", "r.Fresh(nil)", "r.Within(nil)", "wasm.Compile(b, wasm.Options{})"} { // control
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() { "+source+" }", 0)
		if err != nil || len(unbounded(f)) != 1 {
			t.Errorf("%s: got %v, %v, want that it is found", source, unbounded(f), err)
		}
	}
}

// unbounded returns the calls in a file that run modules without a budget.
func unbounded(f *ast.File) (found []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		of, called := callOf(n)
		if called != "NewModuleGame" && !slices.Contains(moduleMakers[3:], called) && (of != "wasm" || !strings.HasPrefix(called, "Compile")) {
			return true
		}
		args := n.(*ast.CallExpr).Args
		if called == "CompileFor" || len(args) == 0 {
			return true
		}
		switch last := args[len(args)-1].(type) {
		case *ast.Ident:
			if last.Name == "nil" {
				found = append(found, called)
			}
		case *ast.CompositeLit:
			found = append(found, called)
		}
		return true
	})
	return found
}

// callOf returns the name of a function that a node calls, and what is before its dot.
func callOf(n ast.Node) (of, called string) {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return "", ""
	}
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return "", f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			of = x.Name
		}
		return of, f.Sel.Name
	}
	return "", ""
}
