package commands

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Text is what a program may print: a string of its sources.
type Text struct {
	File string
	Line int
	Text string
}

// Texts returns the strings of the Go sources below a folder, except for tests, what only tests use, and other modules. A string that is
// only a flag is no text: another program gets it.
func Texts(root string) ([]Text, error) {
	var all []Text
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path) // path is below root
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if rel != "." && (err == nil || strings.HasPrefix(d.Name(), ".")) || d.Name() == "testdata" || rel == "internal/testing" {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && !argument.MatchString(s) {
					all = append(all, Text{rel, set.Position(n.Pos()).Line, s})
				}
			}
			return true
		})
		return nil
	})
	return all, err
}

// Lines returns the lines of a document as texts.
func Lines(file, text string) []Text {
	var all []Text
	for line := range strings.Lines(text) {
		all = append(all, Text{file, len(all) + 1, line})
	}
	return all
}

// A Book has the help of each verb of a program.
type Book struct {
	program string
	helps   map[string]string   // by the verb, such as "replay verify"; "" is the program
	flags   map[string][]string // in these helps
	joined  []*Book
}

// NewBook reads all helps of a program.
func NewBook(run Programs, program string) (*Book, error) {
	b := &Book{program: program, helps: map[string]string{}, flags: map[string][]string{}}
	return b, b.read(run, "")
}

var (
	// entry matches a verb in the list of a help.
	entry = regexp.MustCompile(`(?m)^   ([a-z][a-z-]*)(?:, [a-z]+)*  `)

	// listed matches a flag there.
	listed = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z][a-z0-9-]*)`)
)

func (b *Book) read(run Programs, verb string) error {
	var out, errs bytes.Buffer
	if code := run(b.program, append(strings.Fields(verb), "--help"), &out, &errs); code != 0 {
		return fmt.Errorf("commands: %s %s --help: %s", b.program, verb, &errs)
	}
	b.helps[verb] = out.String()
	if strings.Contains(out.String(), " --print-settings ") { // which has the meaning of keys that are no flags
		var keys bytes.Buffer
		if code := run(b.program, append(strings.Fields(verb), "--print-settings"), &keys, &errs); code != 0 {
			return fmt.Errorf("commands: %s %s --print-settings: %s", b.program, verb, &errs)
		}
		b.helps[verb] += strings.ReplaceAll(keys.String(), "# ", "")
	}
	for _, m := range listed.FindAllStringSubmatch(out.String(), -1) {
		b.flags[verb] = append(b.flags[verb], m[1])
	}
	_, list, _ := strings.Cut(out.String(), "\nCOMMANDS:\n")
	list, _, _ = strings.Cut(list, "\nOPTIONS:\n")
	list, _, _ = strings.Cut(list, "\nGLOBAL OPTIONS:\n")
	for _, m := range entry.FindAllStringSubmatch(list, -1) {
		if m[1] != "help" {
			if err := b.read(run, strings.TrimSpace(verb+" "+m[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// Texts returns the helps.
func (b *Book) Texts() []Text {
	var all []Text
	for verb, help := range b.helps {
		all = append(all, Text{strings.TrimSpace("the help of " + b.program + " " + verb), 1, help})
	}
	slices.SortFunc(all, func(x, y Text) int { return strings.Compare(x.File, y.File) })
	return all
}

// Join adds the verbs and flags of another program. What names one of the programs is compared with that one.
func (b *Book) Join(other *Book) {
	b.joined = append(b.joined, other)
	for verb, help := range other.helps {
		if verb == "" {
			continue
		}
		b.helps[verb] += help
		b.flags[verb] = append(b.flags[verb], other.flags[verb]...)
	}
}

// of returns the book of a program, and nil for one that has none.
func (b *Book) of(program string) *Book {
	for _, other := range b.joined {
		if other.program == program {
			return other
		}
	}
	if program == Cluster && b.program != Cluster {
		return nil
	}
	return b
}

// Size returns how many verbs there are.
func (b *Book) Size() int { return len(b.helps) - 1 }

// has reports whether a verb has a flag. One that ends with a dash stands for all that begin so.
func (b *Book) has(verb, flag string) bool {
	return flag == "--help" || slices.ContainsFunc(b.flags[verb], func(f string) bool {
		return f == flag || strings.HasSuffix(flag, "-") && strings.HasPrefix(f, flag)
	})
}

var (
	// mention matches the program's name before words of a verb, and flags.
	mention = regexp.MustCompile(`(?:^|[^\w./-])(samestep|samestep-cluster|go run \.)((?: [\w%@./-]+)+)`)

	// option matches a flag.
	option = regexp.MustCompile(`--[a-z][a-z0-9-]*`)

	// argument matches a string that is a flag for another program.
	argument = regexp.MustCompile(`^--[a-z-]+(=\S*)?$`)
)

// Wrong returns what a text says of verbs and flags that do not exist: a verb after the program's name, a flag after a verb, and a flag
// that no verb has. The second result counts what was looked at.
func (b *Book) Wrong(t Text) (wrong []string, looked int) {
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s:%d: %s", t.File, t.Line, fmt.Sprintf(format, args...)))
	}
	for _, m := range mention.FindAllStringSubmatch(t.Text, -1) {
		words := strings.Fields(m[2])
		of := b.of(m[1])
		if of == nil || !word.MatchString(words[0]) || format.MatchString(m[1]+m[2]) {
			continue
		}
		looked++
		if verb := of.verb(words); verb == "" {
			say("%s has no verb %q", m[1], words[0])
		} else {
			for _, w := range words[len(strings.Fields(verb)):] {
				if option.FindString(w) == w && !of.has(verb, w) {
					say("%s has no flag %s", verb, w)
				}
			}
		}
	}
	for _, at := range option.FindAllStringIndex(t.Text, -1) {
		flag := t.Text[at[0]:at[1]]
		if at[0] > 0 && !strings.ContainsAny(t.Text[at[0]-1:at[0]], " \n\t(\"'`") {
			continue
		}
		looked++
		before := strings.Fields(t.Text[:at[0]])
		if verb := b.last(before); verb != "" && !b.has(verb, flag) {
			say("%s has no flag %s", verb, flag)
			continue
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(b.helps)), func(verb string) bool { return b.has(verb, flag) }) {
			say("no verb has a flag %s", flag)
		}
	}
	return wrong, looked
}

// Fixed returns the lines of a text of the sources that name the program with a verb, though a program may have another name. The lines
// of helps may: the program's name takes the place there.
func (b *Book) Fixed(t Text) (lines []string) {
	for line := range strings.Lines(t.Text) {
		m := mention.FindStringSubmatch(line)
		if m == nil || m[1] == "go run ." || format.MatchString(m[1]+m[2]) || b.verb(strings.Fields(m[2])) == "" {
			continue
		}
		line = strings.TrimSpace(line)
		if !b.helped(line) {
			lines = append(lines, fmt.Sprintf("%s:%d: %q names the program", t.File, t.Line, line))
		}
	}
	return lines
}

// verb returns the verb with which words begin.
func (b *Book) verb(words []string) string {
	for n := min(2, len(words)); n > 0; n-- {
		if verb := strings.Join(words[:n], " "); b.helps[verb] != "" {
			return verb
		}
	}
	return ""
}

// last returns the verb with which words end, behind the program's name, or of two words.
func (b *Book) last(words []string) string {
	n := len(words)
	for k := 2; k > 0; k-- {
		if n < k {
			continue
		}
		verb := strings.Join(words[n-k:], " ")
		named := k == 2 || n > k && slices.Contains([]string{Stock, Cluster, b.program}, strings.Trim(words[n-k-1], "`\"'("))
		if named && b.helps[verb] != "" {
			return verb
		}
	}
	return ""
}
