package commands

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Command is what a document tells its reader to type.
type Command struct {
	File string // with slashes, relative to the root
	Line int
	Span bool // it stands in a sentence, and may leave out arguments that do not matter there
	Text string
}

// At returns the place, as file:line.
func (c Command) At() string { return fmt.Sprintf("%s:%d", c.File, c.Line) }

// starts matches the beginning of a command of ours: one of the programs, the go command, or variables before them.
var starts = regexp.MustCompile(`^(?:[A-Z][A-Z0-9_]*=\S* )*(?:samestep(?:-cluster|-\d+)?|go (?:run|test|tool|build|vet|get|install))(?:\s|$)`)

var (
	// startsLater matches a line with such a command, perhaps after others.
	startsLater = regexp.MustCompile(`(?:^|&& |[;|] |<\(|\$\()` + strings.TrimPrefix(starts.String(), "^"))

	// format matches the first words of a file or of what is signed, with the version of their format.
	format = regexp.MustCompile(`^samestep [a-z]+ (?:\d+|%d)(?: |$)`)

	fence = regexp.MustCompile("^ *```")
	span  = regexp.MustCompile("`([^`]+)`")
	item  = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)
)

// Find returns the commands of a document, in its order.
func Find(file, text string) []Command {
	var found []Command
	lines := strings.Split(text, "\n")
	fenced, paragraph := false, 0 // the first line of the sentences that are being read
	flush := func(to int) {
		found = append(found, spans(file, paragraph, lines[paragraph:to])...)
		paragraph = to
	}
	for i := 0; i < len(lines); i++ {
		s := lines[i]
		switch {
		case fence.MatchString(s):
			flush(i)
			fenced = !fenced
			paragraph = i + 1
		case fenced, strings.HasPrefix(s, "    ") && !item.MatchString(s):
			flush(i)
			at := i
			for strings.HasSuffix(lines[i], `\`) && i+1 < len(lines) {
				i++
				s = strings.TrimSuffix(s, `\`) + " " + strings.TrimSpace(lines[i])
			}
			if s = strings.TrimPrefix(strings.TrimSpace(s), "$ "); startsLater.MatchString(s) {
				found = append(found, Command{file, at + 1, false, s})
			}
			paragraph = i + 1
		case strings.TrimSpace(s) == "", strings.HasPrefix(s, "|"):
			flush(i)
			if strings.HasPrefix(s, "|") {
				found = append(found, cells(file, i, s)...)
				paragraph = i + 1
			}
		}
	}
	flush(len(lines))
	return found
}

// spans returns the commands in the sentences of some lines, the first of which has an index.
func spans(file string, first int, lines []string) []Command {
	text := strings.Join(lines, "\n")
	var found []Command
	for _, m := range span.FindAllStringSubmatchIndex(text, -1) {
		if s := strings.Join(strings.Fields(text[m[2]:m[3]]), " "); starts.MatchString(s) && !format.MatchString(s) {
			found = append(found, Command{file, first + strings.Count(text[:m[0]], "\n") + 1, true, s})
		}
	}
	return found
}

// cells returns the commands of a row of a table. A bar in a code span is written with a backslash.
func cells(file string, at int, row string) []Command {
	var found []Command
	for i, cell := range strings.Split(strings.ReplaceAll(strings.Trim(row, "|"), `\|`, "\x00"), "|") {
		var shared []string
		for _, m := range span.FindAllStringSubmatch(cell, -1) {
			s := strings.ReplaceAll(m[1], "\x00", "|")
			if words := strings.Fields(s); i == 0 && len(shared) > 0 && word.MatchString(s) && !starts.MatchString(s) {
				s = strings.Join(append(slices.Clone(shared), words...), " ")
			} else if starts.MatchString(s) {
				shared = nil
				if len(words) > 2 && word.MatchString(words[2]) {
					shared = words[:2]
				}
			}
			if starts.MatchString(s) && !format.MatchString(s) {
				found = append(found, Command{file, at + 1, true, s})
			}
		}
	}
	return found
}

var word = regexp.MustCompile(`^[a-z]`)

// Documents returns the documents below a folder, with slashes. CHANGELOG.md is none: it tells what was.
func Documents(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md" && d.Name() != "CHANGELOG.md":
			rel, err := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	return names, err
}

// All returns the commands of all documents below a folder.
func All(root string) ([]Command, error) {
	names, err := Documents(root)
	if err != nil {
		return nil, err
	}
	var found []Command
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		found = append(found, Find(name, string(b))...)
	}
	return found, nil
}
