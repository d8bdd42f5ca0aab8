package commands

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// ours is a program with two verbs.
func ours(program string, args []string, stdout, stderr io.Writer) int {
	helps := map[string]string{
		"":              " [global options] command [command options]\n\nCOMMANDS:\n   replay   work on files\n   serve    host\n   help, h  help\n\nOPTIONS:\n   --help  help\n",
		"replay":        " [command options]\n\nCOMMANDS:\n   verify   compare\n",
		"replay verify": " [command options] FILE... | A B\n\nOPTIONS:\n   --json          for programs\n   --jobs N        at once\n",
		"serve":         " [command options]\n\nOPTIONS:\n   --listen ADDRESS, -l ADDRESS  where\n   --matches N                   at once\n",
	}
	verb := ""
	var flags []string
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			flags = args[i:]
			break
		}
		verb = strings.TrimSpace(verb + " " + a)
	}
	help, ok := helps[verb]
	if !ok {
		fmt.Fprintf(stderr, "unknown command %q", verb)
		return 2
	}
	for i := 0; i < len(flags); i++ {
		if flags[i] != "--help" && !strings.Contains(help, "\n   "+flags[i]+" ") {
			fmt.Fprintf(stderr, "unknown flag %s", flags[i])
			return 2
		}
		if valued(help, flags[i]) {
			if i++; flags[i] == "--help" || flags[i-1] == "--jobs" && strings.Trim(flags[i], "0123456789") != "" {
				fmt.Fprintf(stderr, "bad value %s", flags[i])
				return 2
			}
		}
	}
	fmt.Fprintf(stdout, "USAGE:\n   %s%s\n", strings.TrimSpace(program+" "+verb), help)
	return 0
}

// Commands are found wherever documents have them, with their lines.
func TestFind(t *testing.T) {
	page := strings.Join([]string{
		"Run `samestep serve`, then `go run . replay", // 1
		"verify FILE`. A `samestep.v1` is none, `samestep replay 1` neither.",
		"",
		"    samestep serve \\",
		"        --listen :1    # here",
		"    X=1 go test ./a -run 'A|B'",
		"    samestep: an error",
		"    mkdir x && samestep replay verify x > y",
		"```sh",
		"$ samestep-8 serve --listen :2", // 10
		"```",
		"| command | what |",
		"|---|---|",
		"| `samestep replay verify A`, `info B`, `--json` | `go build` and `info` |",
		"| `samestep serve \\| tee x` | `serve` |",
		"- `go run . demo` in a list",
	}, "\n")
	var got []string
	for _, c := range Find("p.md", page) {
		got = append(got, fmt.Sprintf("%s %v %s", c.At(), c.Span, c.Text))
	}
	want := []string{
		"p.md:1 true samestep serve",
		"p.md:1 true go run . replay verify FILE",
		"p.md:4 false samestep serve  --listen :1    # here",
		"p.md:6 false X=1 go test ./a -run 'A|B'",
		"p.md:8 false mkdir x && samestep replay verify x > y",
		"p.md:10 false samestep-8 serve --listen :2",
		"p.md:14 true samestep replay verify A",
		"p.md:14 true samestep replay info B",
		"p.md:14 true go build",
		"p.md:15 true samestep serve | tee x",
		"p.md:16 true go run . demo",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A command line is read as a shell does.
func TestCalls(t *testing.T) {
	for text, want := range map[string][]Call{
		"samestep serve --wire \"a b\" 'c d' e\\ f # no": {{Args: []string{"samestep", "serve", "--wire", "a b", "c d", "e f"}}},
		"A=1 go test > out ./x && samestep man | man -l": {{[]string{"A=1"}, []string{"go", "test", "./x"}}, {Args: []string{"samestep", "man"}}, {Args: []string{"man", "-l"}}},
	} {
		if got, err := (Command{Text: text}).Calls(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := (Command{Text: "samestep 'x"}).Calls(); err == nil {
		t.Error("a quotation without an end was read")
	}
}

// Control: what a verb does not take is found.
func TestCheckControl(t *testing.T) {
	for _, row := range []struct {
		text string
		span bool
		want string // a part of the error; "" for none
	}{
		{"samestep serve --listen :1", false, ""},
		{"go run ./cmd/samestep replay verify --jobs N a b c --json", false, ""},
		{"samestep replay verify", true, ""},
		{"samestep replay verify --jobs", true, ""},
		{"samestep serve --help", false, ""},
		{"cat x | go tool samestep replay verify x", false, ""},
		{"samestep-9 serve", false, ""},
		{"go run . --out x", false, ""}, // another program
		{"samestep replay verify", false, "got the arguments []"},
		{"samestep replay verify --jobs", false, "bad value --help"},
		{"samestep replay verify --jobs many x", false, "bad value many"},
		{"samestep replay check x", true, `got the arguments ["check" "x"]`},
		{"samestep serf", true, `got the arguments ["serf"]`},
		{"samestep serve match.ssr", true, `got the arguments ["match.ssr"]`},
		{"samestep replay verify x && samestep serve --json", true, "unknown flag --json"},
	} {
		verbs, err := Command{"p.md", 3, row.span, row.text}.Check(ours)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || !strings.HasPrefix(err.Error(), "p.md:3: ")) {
			t.Errorf("%s: got %v, want %q", row.text, err, row.want)
		}
		if want := strings.Count(row.text, "samestep") + strings.Count(row.text, "run . s"); verbs != want {
			t.Errorf("%s: got %d verbs, want %d", row.text, verbs, want)
		}
	}
}

// Control: a text with a verb or a flag that does not exist is found, and others are not.
func TestWrongControl(t *testing.T) {
	book, err := NewBook(ours, Stock)
	if err != nil || book.Size() != 3 || len(book.Texts()) != 4 {
		t.Fatalf("got %d verbs, %v", book.Size(), err)
	}
	for text, want := range map[string]string{
		"see samestep serve --listen":             "",
		"(samestep replay verify) compares":       "",
		"usage: --jobs: got 0, want at least 1":   "",
		"the %s replay verify --json of a file":   "",
		"samestep replay 1\n":                     "",
		"as samestep: %v":                         "",
		"with replay verify, --listen is another": "",
		"see samestep serf":                       `p.go:7: samestep has no verb "serf"`,
		"see samestep serve --json":               "p.go:7: serve has no flag --json",
		"more with --job":                         "p.go:7: no verb has a flag --job",
		"see replay verify --listen":              "p.go:7: replay verify has no flag --listen",
	} {
		wrong, looked := book.Wrong(Text{"p.go", 7, text})
		if got, _, _ := strings.Cut(strings.Join(wrong, "\n"), "\n"); got != want {
			t.Errorf("%q: got %q, want %q", text, wrong, want)
		}
		if want != "" && looked == 0 {
			t.Errorf("%q: looked at nothing", text)
		}
	}
}

// Control: a text that names the program is found, unless a help has it.
func TestFixedControl(t *testing.T) {
	book, err := NewBook(ours, Stock)
	if err != nil {
		t.Fatal(err)
	}
	text := "run samestep replay verify\nwith serve\nsamestep replay %d\n   samestep serve [command options]\n"
	got := strings.Join(book.Fixed(Text{"p.go", 7, text}), "\n")
	if want := `p.go:7: "run samestep replay verify" names the program`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Control: a line that advises a command is found, in whatever words, and others are not.
func TestAdviceControl(t *testing.T) {
	book, err := NewBook(ours, Stock)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"everything worked; try: %s replay verify %s": true,
		"mkdir x && %[2]s serve":                      true,
		"compare it with replay verify A B":           true,
		"see serve --listen":                          true,
		"(replay verify), or more":                    true,
		"go test -count=1 -run '":                     true,
		"a line\nsee serve --listen":                  true,
		"replay verify: %w":                           false,
		"serve the page by HTTP":                      false,
		"the replay is %s":                            false,
		"go on with --listen":                         false,
		"   samestep serve [command options]":         false, // a help has it
	} {
		if got := len(book.Advice(Text{"p.go", 7, text})) > 0; got != want {
			t.Errorf("%q: got advice %v, want %v", text, got, want)
		}
	}
}

// The texts of the sources are read, and this module's documents.
func TestTree(t *testing.T) {
	texts, err := Texts("../../..")
	if err != nil || len(texts) < 5000 {
		t.Errorf("got %d texts, %v", len(texts), err)
	}
	all, err := All("../../..")
	if err != nil || len(all) < 300 {
		t.Errorf("got %d commands, %v", len(all), err)
	}
}
