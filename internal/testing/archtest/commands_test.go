package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/commands"
)

// testHomes are the folders in which documents run "go test"; the others do so in the root. A document of two folders has a second
// one, for commands without a package.
var testHomes = map[string][2]string{
	"docs/cluster.md":           {"", "cmd/samestep-cluster/clustertool"},
	"docs/studio.md":            {scaffoldHome, scaffoldHome},
	"docs/testing.md":           {"examples/minimal", "examples/minimal"},
	scaffoldHome + "/README.md": {scaffoldHome, scaffoldHome},
}

const scaffoldHome = "cmd/samestep/tool/internal/scaffold"

var (
	switches  = regexp.MustCompile(`^-(v|race|benchmem|artifacts|short)$|=`)
	valued    = regexp.MustCompile(`^-(count|timeout|benchtime|fuzztime|fuzzminimizetime|exec|tags|outputdir|parallel|cpu|p)$`)
	testKinds = map[string]*regexp.Regexp{"-run": regexp.MustCompile("^(Test|Fuzz|Example)"), "-bench": regexp.MustCompile("^Benchmark"), "-fuzz": regexp.MustCompile("^Fuzz")}
)

// A testCommand is what a "go test" names.
type testCommand struct {
	pkgs  []string
	asked [][2]string // a key of testKinds, and a name that it must match
	flags []string    // that the tests must define
}

// readTest reads the arguments of "go test" in a document.
func readTest(file string, args []string) (c testCommand) {
	home := testHomes[file]
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case strings.HasPrefix(a, "./") || a == ".":
			c.pkgs = append(c.pkgs, path.Join(home[0], a))
		case !strings.HasPrefix(a, "-") || a == "-args" || switches.MatchString(a):
		case testKinds[a] != nil && i+1 < len(args):
			i++
			for name := range strings.SplitSeq(args[i], "|") {
				if name, _, _ = strings.Cut(name, "/"); name != "^$" && name != "-" {
					c.asked = append(c.asked, [2]string{a, name})
				}
			}
		case valued.MatchString(a):
			i++
		case a != "-rewrite": // which datadriven defines
			c.flags = append(c.flags, a)
		}
	}
	if len(c.pkgs) == 0 {
		c.pkgs = []string{path.Join(".", home[1])}
	}
	return c
}

// testCommandFindings looks for commands that test what does not exist: a package, a test, a flag or a variable. It counts those that
// it has looked at.
func (t *tree) testCommandFindings(all []commands.Command) (found []finding, looked int) {
	texts := t.texts()
	for _, c := range all {
		add := func(format string, args ...any) {
			found = append(found, finding{c.File, c.Line, "command", fmt.Sprintf(format, args...)})
		}
		calls, err := c.Calls()
		if err != nil {
			add("%v", err)
		}
		for _, call := range calls {
			for _, env := range call.Env {
				name, _, _ := strings.Cut(env, "=")
				short, ours := strings.CutPrefix(name, "SAMESTEP_")
				if flag := strings.ReplaceAll(strings.ToLower(short), "_", "-"); ours && !texts[name] && !texts[flag] {
					add("nothing reads %s", name)
				}
			}
			if len(call.Args) < 2 || call.Args[0] != "go" || call.Args[1] != "test" {
				continue
			}
			looked++
			for _, wrong := range t.wrongTestCommand(readTest(c.File, call.Args[2:]), texts) {
				add("%s", wrong)
			}
		}
	}
	return found, looked
}

// wrongTestCommand returns what a "go test" names and does not exist.
func (t *tree) wrongTestCommand(c testCommand, texts map[string]bool) (wrong []string) {
	var pkgs []string
	for _, pattern := range c.pkgs {
		n := len(pkgs)
		for _, p := range t.pkgs {
			if under(pattern, p.path) || pattern == "..." {
				pkgs = append(pkgs, p.path)
			}
		}
		if len(pkgs) == n && pattern != "." {
			wrong = append(wrong, "there is no package "+pattern)
		}
	}
	for _, a := range c.asked {
		re, err := regexp.Compile(a[1])
		if err != nil || !slices.ContainsFunc(pkgs, func(p string) bool {
			return t.hasTest(p, func(name string) bool { return testKinds[a[0]].MatchString(name) && re.MatchString(name) })
		}) {
			wrong = append(wrong, fmt.Sprintf("%s %s: no test of %s matches", a[0], a[1], strings.Join(c.pkgs, ", ")))
		}
	}
	for _, flag := range c.flags {
		if !texts[strings.TrimLeft(flag, "-")] {
			wrong = append(wrong, "no test has a flag "+flag)
		}
	}
	return wrong
}

// texts returns the strings of all files.
func (t *tree) texts() map[string]bool {
	texts := map[string]bool{}
	for _, p := range t.pkgs {
		for _, f := range p.files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						texts[s] = true
					}
				}
				return true
			})
		}
	}
	return texts
}

// Every "go test" of a document names packages, tests, flags and variables that exist.
func TestTestCommands(t *testing.T) {
	tr := ours(t)
	all, err := commands.All(tr.dir)
	if err != nil {
		t.Fatal(err)
	}
	found, looked := tr.testCommandFindings(all)
	report(t, found)
	if looked < 60 {
		t.Errorf("got %d commands with go test, want those of all documents", looked)
	}
	t.Logf("%d commands with go test", looked)
}

// Control: what does not exist is found.
func TestTestCommandsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/b/b_test.go": "package b\nfunc TestHere() {}\nfunc BenchmarkStep() {}\nvar long = flag.Bool(\"long\", false, os.Getenv(\"SAMESTEP_LONG\"))\n",
		"c/c_test.go":   "package c\nfunc TestThere() {}\nfunc FuzzAll() {}\n",
		"cmd/samestep-cluster/clustertool/k_test.go": "package k\nfunc TestKills() {}\nconst players = \"player-count\"\n",
	})
	check := func(command string, want ...string) {
		t.Helper()
		found, _ := tr.testCommandFindings(commands.Find("docs/cluster.md", "    "+command))
		expect(t, found, want...)
	}
	check("SAMESTEP_LONG=1 go test ./a/b ./c -run 'Here|There/x' -v -timeout 1h -args -long   # a comment")
	check("go test -run '^$' -bench Step -benchtime 1x ./a/...")
	check("SAMESTEP_PLAYER_COUNT=2 go test -run TestKills")
	check("go test ./c -fuzz FuzzAll")
	check("go test ./d -run TestHere", "there is no package d", "no test of d matches")
	check("go test ./d/...", "there is no package d/...")
	check("go test ./a/b -run 'Here|There'", "-run There: no test of a/b matches")
	check("go test ./a/b -bench Here", "-bench Here: no test")
	check("go test ./c -fuzz There", "-fuzz There: no test")
	check("go test ./a/b -args -longer", "no test has a flag -longer")
	check("SAMESTEP_SHORT=1 go test ./a/b", "nothing reads SAMESTEP_SHORT")
	check("go test ./a/b -run 'Here", "has no end of '")
}
