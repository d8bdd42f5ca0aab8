package web_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// speakers are the files whose sentences the page shows, in the folders of the repository: those of this program, and those that a server
// sends. A file with a minus is left out. The texts of errors are among them where the page shows the errors.
var speakers = []struct {
	folder, files string
	errors        bool
}{
	{"page/live", "*", false}, {"page/program", "*", true}, {"page/watch", "*", true},
	{"examples/skirmish/web/live", "*", true}, {"examples/skirmish/web/play", "*", true},
	{"examples/skirmish", "describe diplomacy errors refuse", true}, {"examples/minimal", "minimal", false},
	{"client", "browser_js", true}, {"lockstep/player", "client events options roster", true}, {"lockstep/player/internal/*", "checks link", true},
	{"lockstep/protocol", "message", false}, {"lockstep/coordinator", "checks coordinator recovery seat", false},
	{"lockstep/host", "* -ready -options", false}, {"lockstep/host/internal/*", "*", false},
	{"server", "api conn creator denials log match", false}, {"server/internal/*", "guests livelog hold", false},
}

// unsaid are texts in these files that no page shows.
var unsaid = []string{
	"to you", "from you", // parts of an offer
	"the referee has computed it again", "the referee has another result now, and takes it", "each computation of the referee has another result",
	"last agreed tick", "retry after", "state hashes", "state hash", "last sequence", "first hash", "state schema", "command schema", "ack every", "; none for a spectator", // the description of messages
	"desync at tick {}", "{player} differs", "a spectator differs", "{} groups, no verdict", "setting relay", // of a report, and of a recovery
	"the end of the match is not stored", "it may go on at another server", "the match hangs", // to operators
	"want start, pause, resume, kick, ban, unban, speed, keyframe or retry", "got {}, want {} to {}", "want {}",
	"/kick {}", "match handed over", "want the subprotocol {}", "record {} of kind {} in a state sync", "bot {}",
	"from command {}", "to command {}", "the bot panicked", "a viewer has no datagrams", "not asked for", "the log of a running match is gone", "bans and revocations are not kept",
	"Idempotency-Key", "want at most 128 bytes", "an earlier request with this Idempotency-Key had another body", "an earlier request with this Idempotency-Key is in progress", "Bearer {}", // to programs
	"its disk is full", "its disk does not answer", "its folder is gone", "its folder cannot be written to", "its disk is full, does not answer or has failed", "replicated log",
	"the log of the match cannot be copied", "too many connections", "there is no fetch here", "there is no path of datagrams", "incomplete response",
}

var (
	verb     = regexp.MustCompile(`%[-+# 0]*[\d.]*[a-zA-Z]`)
	numbered = regexp.MustCompile(`\b[Pp]layer \{\}`)
	prefix   = regexp.MustCompile(`^(?:(?:skirmish|lockstep|watch|client|live|program): )+`)
	prose    = regexp.MustCompile(`[\pL}][,;.]? [\pL{]|{player}`) // two words, a word and a value, or a player
)

// blank writes {} for each value of a Go format string, and {player} for each player.
func blank(format string) string {
	text := verb.ReplaceAllString(strings.ReplaceAll(format, "%%", "\x00"), "{}")
	return numbered.ReplaceAllString(strings.ReplaceAll(text, "\x00", "%"), "{player}")
}

// blankOf returns a row of the page's table in the form of blank.
func blankOf(row string) string {
	return values.ReplaceAllStringFunc(row, func(value string) string {
		if value == "{player}" {
			return value
		}
		return "{}"
	})
}

// sentencesOf returns the sentences of a Go file as blank has them, cut at colons: the texts of several words, and those of one word that
// are surely shown.
func sentencesOf(t *testing.T, name string, source any, errors bool) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	add := func(n ast.Node, short bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.CallExpr:
				if called := nameOf(n.Fun); called == "panic" || !errors && (called == "Errorf" || called == "New") {
					return false
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					for part := range strings.SplitSeq(prefix.ReplaceAllString(text, ""), ": ") {
						if part = blank(part); strings.HasSuffix(part, " ") {
							part += "{}" // to which a value is appended
						}
						if part != "" && part != "{}" && !strings.ContainsAny(part[:1], " ,") && (short || prose.MatchString(part)) {
							found = append(found, part)
						}
					}
				}
			}
			return true
		})
	}
	for _, d := range file.Decls {
		add(d, false)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if slices.Contains([]string{"line", "problem", "Tell"}, nameOf(n.Fun)) {
				add(n.Args[len(n.Args)-1], true)
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) && slices.Contains([]string{"Text", "problem"}, nameOf(to)) {
					add(n.Rhs[i], true)
				}
			}
		case *ast.KeyValueExpr:
			if slices.Contains([]string{"Label", "Hint", "Text"}, nameOf(n.Key)) {
				add(n.Value, true)
			}
		}
		return true
	})
	return found
}

// nameOf returns the last name of an expression, or "".
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// spoken returns the sentences of all speakers, each with a file that has it.
func spoken(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, s := range speakers {
		for file := range strings.FieldsSeq(s.files) {
			if file[0] == '-' {
				continue
			}
			names, err := filepath.Glob(filepath.Join("..", "..", "..", filepath.FromSlash(s.folder), file+".go"))
			if err != nil || len(names) == 0 {
				t.Errorf("%s/%s: got %d files: %v", s.folder, file, len(names), err)
			}
			for _, name := range names {
				base := strings.TrimSuffix(filepath.Base(name), ".go")
				if strings.HasSuffix(base, "_test") || slices.Contains(strings.Fields(s.files), "-"+base) {
					continue
				}
				source, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range sentencesOf(t, name, source, s.errors) {
					all[text] = name
				}
			}
		}
	}
	for c := range uint8(32) {
		for _, text := range []string{protocol.CloseCode(c).String(), protocol.ErrorCode(c).String(), lockstep.Reason(c).String()} {
			if c > 0 && !strings.HasPrefix(text, "code ") && !strings.HasPrefix(text, "reason ") {
				all[text] = "a code of the protocol"
			}
		}
	}
	for _, text := range unsaid {
		if all[text] == "" {
			t.Errorf("no file has the text %q", text)
		}
		delete(all, text)
	}
	return all
}

// A new sentence is found, wherever it stands.
func TestSentencesAreFound(t *testing.T) {
	got := sentencesOf(t, "x.go", `package x
import "a b"
var err = errors.New("skirmish: that costs too much")
var b = Button{Action: "go", Label: "Go"}
func f() {
	n.line("seat", 1, "gone")
	n.link.Text = "on hold: " + reason
	p.problem = fmt.Sprintf("%d of %v units, at 5 %%", 1, u)
	c.close(p, 1, "banned for " + duration)
	panic("our own bug")
}
func word() (sort string, text string) { return "game", "is defeated" }`, true)
	want := []string{"that costs too much", "on hold", "{} of {} units, at 5 %", "banned for {}", "is defeated", "Go", "gone", "on hold", "{} of {} units, at 5 %"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
