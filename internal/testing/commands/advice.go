package commands

import (
	"regexp"
	"slices"
	"strings"
)

// advised matches a word of a message, behind a program's name that is filled in, and what may go on.
var advised = regexp.MustCompile(`^(%s |%\[\d\]s )?([a-z][a-z-]*)`)

// Advice returns the lines of a text of the sources that tell people a command: that of a program whose name is filled in, a verb of
// two words, one with a flag, or a command of go. Usages and the beginnings of errors are none.
func (b *Book) Advice(t Text) (lines []string) {
	for line := range strings.Lines(t.Text) {
		line = strings.TrimSpace(line)
		if b.advises(line) && !b.helped(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

func (b *Book) advises(line string) bool {
	for at := range line {
		m := advised.FindStringSubmatch(line[at:])
		if m == nil || at > 0 && !strings.ContainsAny(line[at-1:at], " (\"'`") {
			continue
		}
		filled, rest := m[1] != "", strings.TrimPrefix(line[at:], m[1])
		words := strings.Fields(rest)
		if len(words) > 2 && words[0] == "go" && slices.Contains([]string{"run", "test", "install"}, words[1]) {
			return true
		}
		for i := 1; i < len(words); i++ {
			words[i] = strings.TrimRight(words[i], ").,;'\"`")
		}
		verb := b.verb(words)
		if verb == "" || strings.HasPrefix(rest[len(m[2]):], ":") {
			continue
		}
		if after := words[len(strings.Fields(verb)):]; filled || strings.Contains(verb, " ") || len(after) > 0 && strings.HasPrefix(after[0], "--") {
			return true
		}
	}
	return false
}

// helped reports whether a help has the line, perhaps broken at other words.
func (b *Book) helped(line string) bool {
	words := strings.Join(strings.Fields(line), " ")
	for _, help := range b.helps {
		help = strings.Join(strings.Fields(help), " ")
		if strings.Contains(help, strings.ReplaceAll(words, "samestep ", b.program+" ")) || strings.Contains(help, strings.ReplaceAll(words, "`", "")) {
			return true
		}
	}
	return false
}
