//go:build !js

package tool

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	_ "github.com/seed-49bee653/samestep/cmd/samestep/tool/mcap"
	_ "github.com/seed-49bee653/samestep/cmd/samestep/tool/s3"
	_ "github.com/seed-49bee653/samestep/cmd/samestep/tool/watch"
	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/internal/words"
)

// programs are those of the tests, by name.
var programs = tooltest.Programs{
	"samestep": of(func() []Game { return ours }), "faulty": of(faultyGame), "duel": of(duelGame), "hasty": of(hastyGame), "tiles": of(tilesGame), "toll": of(tollGame), "boom": of(boomGame),
	"forge": {Main: func() { os.Exit(runForge(context.Background(), os.Args, os.Stdout, os.Stderr)) }, Run: runForge},
}

// of returns the program of some games.
func of(games func() []Game) tooltest.Program {
	return tooltest.Program{Main: func() { Main(games()...) }, Run: func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return Run(ctx, args, stdout, stderr, games()...)
	}}
}

func runForge(_ context.Context, args []string, _, stderr io.Writer) int {
	if err := forge(args[1:]); err != nil {
		fmt.Fprintln(stderr, err)
		return console.ExitError
	}
	return console.ExitOK
}

func TestMain(m *testing.M) {
	gameset.RulesOfUser = "rules-of-tests" // reading each module of this user takes seconds
	tooltest.Main(m, programs)
}

// Each file of testdata is a script for one verb: commands, their output, and the exit codes. With -rewrite, the
// expected files of a script are rewritten.
func TestScripts(t *testing.T) {
	t.Parallel()
	matches, err := filepath.Abs("../../../testdata/matches")
	if err != nil {
		t.Fatal(err)
	}
	small := testenv.Small(t)
	set, err := variablesOfScripts()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("MATCHES", matches) // real ones
			names := slices.Clone(set)
			for _, v := range e.Vars {
				name, _, _ := strings.Cut(v, "=")
				names = append(names, name)
			}
			e.Values[variables{}] = names
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "small" {
				return false, fmt.Errorf("got condition %q, want small", name)
			}
			return small, nil
		},
		UpdateScripts:       script.Rewrite(),
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"process": processExits,
			"demo":    giveDemo,
			"clean":   clean,
			"json":    jsonCommand,
			"keys":    keys,
		},
	})
}

// variables is the key of the names of a script's environment, which a command cannot list.
type variables struct{}

// variablesOfScripts returns the names that scripts give to env.
func variablesOfScripts() (names []string, err error) {
	files, err := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		b, readErr := os.ReadFile(file)
		err = errors.Join(err, readErr)
		for _, m := range regexp.MustCompile(`(?m)^env (\w+)=`).FindAllSubmatch(b, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names, err
}

// exits CODE PROGRAM ARGUMENT... runs a command line of one of our programs in a worker, and requires an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENT...")
	}
	o := tooltest.Order{Args: args[1:], Dir: ts.MkAbs(".")}
	for _, name := range ts.Value(variables{}).([]string) {
		if value := ts.Getenv(name); value != "" {
			o.Env = append(o.Env, name+"="+value)
		}
	}
	result, err := o.Run()
	ts.Check(err)
	io.WriteString(ts.Stdout(), result.Stdout)
	io.WriteString(ts.Stderr(), result.Stderr)
	requireExit(ts, args, result.Code, result.Stdout, result.Stderr)
}

// giveDemo is the command demo DIR ARGUMENT... that gives a script the files of a demo.
func giveDemo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: demo DIR ARGUMENT...")
	}
	ts.Check(tooltest.CopyDemo(ts.MkAbs(args[0]), args[1:]...))
}

// process CODE COMMAND ARGUMENT... is exits with a process of its own: for the few that show that the process does what a
// worker does, that have standard input, or that start themselves again.
func processExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: process CODE COMMAND ARGUMENT...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	requireExit(ts, args, got, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
}

// requireExit requires an exit code of a command line that begins with the wanted one, that its output fits into the page, and that its
// errors name each place once.
func requireExit(ts *testscript.TestScript, args []string, got int, stdout, stderr string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got != want {
		ts.Fatalf("got exit code %d, want %d", got, want)
	}
	if wide := tooWide(args[2:], stdout); wide != "" {
		ts.Fatalf("%s has more than %d columns: %q", strings.Join(args[2:], " "), words.Width, wide)
	}
	if twice := saidTwice(stderr); twice != "" {
		ts.Fatalf("%s says a prefix twice: %q", strings.Join(args[2:], " "), twice)
	}
	if one := oneOfMany.FindString(stdout + stderr); one != "" {
		ts.Fatalf("%s counts one thing as many: %q", strings.Join(args[2:], " "), one)
	}
}

// oneOfMany is a single thing in the plural, such as "1 matches" or "1 altered fields", and not a name, such as "tick 1 differs".
var oneOfMany = regexp.MustCompile(`(?m)(^|\(|[:;,>=] |\b(in|of|with|and|for|after|from|least|most|tried) )1 ([a-z]+ )?(matches|ticks|checks|checksums|commands|fields|files|players|seats|machines|runs|draws|units|bots|packets|views|states|frames|kinds|elements|turns|desyncs|times|bytes|simulations|places|seeds|others|faults|payloads|configurations|fingerprints|lines|clients|spectators|processes|keyframes|statements|more files)\b`)

// Control: one thing in the plural is found, and numbers and names are not.
func TestOneOfMany(t *testing.T) {
	for text, want := range map[string]bool{
		"1 matches": true, "2 bots in 1 matches, for 3 s": true, "tried 1 altered fields": true, "(1 ticks)": true, "reached: 1 commands": true,
		"1 match": false, "11 matches": false, "1.1 ticks": false, "tick 1 ticks": false, "in 1 of 2 files": false, "of player 1 runs": false,
	} {
		if got := oneOfMany.MatchString(text); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

// saidTwice returns the first prefix of an error that the same prefix follows, such as "platforms: platforms: "; "" for none.
func saidTwice(text string) string {
	for line := range strings.Lines(text) {
		parts := strings.SplitAfter(line, ": ")
		for i := range parts[1:] {
			if before, after := parts[i], parts[i+1]; strings.HasSuffix(before, after) && strings.HasSuffix(after, ": ") {
				return before + after
			}
		}
	}
	return ""
}

// Control: a prefix that is said twice is found, and others are not.
func TestSaidTwice(t *testing.T) {
	for text, want := range map[string]string{
		"samestep: a.json: lockstep: platforms: bad config: size is 0": "",
		"samestep: lockstep: platforms: platforms: bad config":         "platforms: platforms: ",
		"replay: replay: at byte 7":                                    "replay: replay: ",
		"one: two: one: three\ntwo: two":                               "",
	} {
		if got := saidTwice(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// batchEnd matches the last line of a verb that gives each file a line.
var batchEnd = regexp.MustCompile(`\d files? in .*: \d+ \w+(, \d+ \w+)*\n$`)

// tooWide returns a line of a verb about desyncs that does not fit into the page, or "". A path that the user gave may be as
// long as it is.
func tooWide(args []string, out string) string {
	verb := strings.Join(args[:min(len(args), 2)], " ")
	if !slices.Contains([]string{"desync explain", "desync triage", "desync line", "replay verify", "replay diff", "replay bisect", "replay step"}, verb) ||
		slices.Contains(args, "--json") || slices.Contains(args, "--help") || batchEnd.MatchString(out) {
		return ""
	}
	for line := range strings.Lines(out) {
		if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > words.Width && !strings.HasPrefix(line, "page ") {
			return line
		}
	}
	return ""
}

// Control: a line that is too wide is found, and others are not.
func TestTooWide(t *testing.T) {
	long := strings.Repeat("→", 80)
	if tooWide([]string{"replay", "diff", "a", "b"}, "a\n"+long+"x\n") == "" {
		t.Error("a wide line is not found")
	}
	for _, args := range []string{"replay diff a b", "replay dump a"} {
		if got := tooWide(strings.Fields(args), long+"\n"); got != "" {
			t.Errorf("%s: got %q", args, got)
		}
	}
	if tooWide(strings.Fields("replay diff --json"), long+"x") != "" {
		t.Error("JSON may be wide")
	}
}

// clean FILE... requires that files, or stdout and stderr, have no control character. ! clean requires one, so that a
// script shows that there was one to remove.
func clean(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: clean FILE...")
	}
	for _, name := range args {
		if at := script.Control.FindString(ts.ReadFile(name)); (at != "") != neg {
			ts.Fatalf("%s: got control character %q", name, at)
		}
	}
}

// json FILE KEY... VALUE requires that a file is one JSON value with the given value at the keys. The value "." matches
// any value.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: json FILE KEY... VALUE")
	}
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &at))
	for _, key := range args[1 : len(args)-1] {
		object, _ := at.(map[string]any)
		value, ok := object[key]
		if !ok {
			ts.Fatalf("no key %q", key)
		}
		at = value
	}
	got, err := json.Marshal(at)
	ts.Check(err)
	if want := args[len(args)-1]; want != "." && string(got) != want {
		ts.Fatalf("got %s, want %s", got, want)
	}
}

// keys NAME writes a pair of keys to NAME.key and NAME.pub.
func keys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keys NAME")
	}
	public, private, err := ed25519.GenerateKey(nil)
	ts.Check(err)
	key, err := x509.MarshalPKCS8PrivateKey(private)
	ts.Check(err)
	pub, err := x509.MarshalPKIXPublicKey(public)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub}), 0o666))
}
