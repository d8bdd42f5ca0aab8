//go:build !js

package clustertool

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/testing/commands"
)

// Every command of ours in a document exists, with its flags and as many arguments.
func TestCommandsOfDocuments(t *testing.T) {
	t.Parallel()
	all, err := commands.All("../../..")
	if err != nil {
		t.Fatal(err)
	}
	list := games.All()
	run := func(program string, args []string, stdout, stderr io.Writer) int {
		args = append([]string{program}, args...)
		if program == commands.Cluster {
			return Run(t.Context(), args, stdout, stderr, list...)
		}
		return tool.Run(t.Context(), args, stdout, stderr, list...)
	}
	verbs := 0
	for _, c := range all {
		n, err := c.Check(run)
		verbs += n
		if err != nil {
			t.Error(err)
		}
	}
	if verbs < 230 {
		t.Errorf("got %d commands, want those of all documents", verbs)
	}
	t.Logf("%d commands", verbs)
}

// otherWords are words that look like ours and are those of other programs, by the finding.
var otherWords = map[string]string{
	"no verb has a flag --by":        "the example of docs/import.md",
	"no verb has a flag --out":       "the example of docs/import.md",
	"no verb has a flag --math":      "the example of docs/import.md",
	"no verb has a flag --build-arg": "docker",
	"no verb has a flag --from-file": "kubectl",
	"no verb has a flag --now":       "systemctl",
	"no verb has a flag --target":    "clang",
	`samestep has no verb "create"`:  "kubectl: samestep is the namespace",
}

// Every verb and flag that a document, a help or a message names exists.
func TestCommandsOfMessages(t *testing.T) {
	t.Parallel()
	all := games.All()
	book, err := commands.NewBook(func(program string, args []string, stdout, stderr io.Writer) int {
		return tool.Run(t.Context(), append([]string{program}, args...), stdout, stderr, all...)
	}, commands.Stock)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := commands.NewBook(func(program string, args []string, stdout, stderr io.Writer) int {
		return Run(t.Context(), append([]string{program}, args...), stdout, stderr, all...)
	}, commands.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	if verbs := cluster.Size(); verbs < 20 || verbs > 30 {
		t.Errorf("samestep-cluster has %d verbs, want its own and a few more", verbs)
	}
	for _, help := range cluster.Texts() {
		for line := range strings.Lines(help.Text) {
			if utf8.RuneCountInString(line) > 101 {
				t.Errorf("%s: a line is wider than 100 columns: %s", help.File, line)
			}
		}
	}
	var flags strings.Builder
	if Run(t.Context(), []string{commands.Cluster, "__complete", "serve", "--"}, &flags, &flags, all...); strings.Count(flags.String(), "\n") > 25+2 {
		t.Errorf("serve has more than 25 flags, besides --help and --version:\n%s", &flags)
	}
	book.Join(cluster)
	texts, err := commands.Texts("../../..")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("../../samestep/tool/testdata/documents/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	how, order, err := commands.ReadRows(string(list))
	if err != nil {
		t.Fatal(err)
	}
	advice := map[string]bool{}
	for _, text := range texts {
		for _, line := range book.Advice(text) {
			if advice[line] = true; !commands.Printed(how[line]) {
				t.Errorf("%s:%d: a message with the command %q has no row", text.File, text.Line, line)
			}
		}
		for _, line := range book.Fixed(text) {
			if text.File != "page/watch/recording.go" { // only that program has the page for recordings of other engines
				t.Error(line)
			}
		}
	}
	for _, row := range order {
		if commands.Printed(how[row]) && !advice[row] {
			t.Errorf("no message has %q", row)
		}
	}
	names, err := commands.Documents("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		page, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, commands.Lines(name, string(page))...)
	}
	looked, others := 0, map[string]bool{}
	for _, text := range append(texts, book.Texts()...) {
		wrong, n := book.Wrong(text)
		looked += n
		for _, w := range wrong {
			if _, what, _ := strings.Cut(w, ": "); strings.HasSuffix(text.File, ".md") && otherWords[what] != "" {
				others[what] = true
				continue
			}
			t.Error(w)
		}
	}
	for what := range otherWords {
		if !others[what] {
			t.Errorf("no document needs the exception %q", what)
		}
	}
	if book.Size() < 60 || looked < 1900 {
		t.Errorf("got %d verbs, and %d verbs and flags in texts", book.Size(), looked)
	}
	t.Logf("%d verbs, %d texts, %d verbs and flags in them", book.Size(), len(texts), looked)
}

var (
	// settingSpan matches a line of a settings file in a document.
	settingSpan = regexp.MustCompile("`([a-z][a-z-]+: [^`]+)`")

	// placeholder matches a word that stands for a value.
	placeholder = regexp.MustCompile(`[A-Z]|…`)
)

// otherSettings are lines in documents that only look like those of a settings file.
var otherSettings = []string{"hands: …", "storage: samestep", "compat: joined", "package: what", "package: what: got …, want …"}

// Each line of a settings file that a document has is one that serve takes.
func TestSettingsOfDocuments(t *testing.T) {
	t.Parallel()
	names, err := commands.Documents("../../..")
	if err != nil {
		t.Fatal(err)
	}
	list, file, lines := games.All(), filepath.Join(t.TempDir(), "serve.yaml"), 0
	takes := func(line string) string {
		if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		if code := Run(t.Context(), []string{commands.Cluster, "serve", "--print-settings", "--settings", file}, io.Discard, &errs, list...); code == 0 {
			return ""
		}
		return errs.String()
	}
	for _, name := range names {
		page, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range settingSpan.FindAllStringSubmatch(string(page), -1) {
			line, value, _ := strings.Cut(m[1], ": ")
			if slices.Contains(otherSettings, m[1]) {
				continue
			}
			if lines++; placeholder.MatchString(value) {
				value = "1"
			}
			if wrong := takes(line + ": " + value); wrong != "" {
				t.Errorf("%s: `%s`: %s", name, m[1], wrong)
			}
		}
	}
	if lines < 20 || takes("grase: 5s") == "" || takes("grace: 5") == "" {
		t.Errorf("got %d lines in documents, and a wrong key or value that is taken", lines)
	}
}
