package words

import (
	"strings"
	"unicode/utf8"
)

// Width is the number of columns of a line for people.
const Width = 80

// indent is the number of columns of a line's name, with the space after it.
const indent = 11

// Wrapped breaks a line of a [Page] at spaces, so that no part has more than [Width] characters. The parts after the first
// begin two columns to the right of the line's text. A word that is longer than a part, such as a path, is broken anywhere.
// Tabs become four spaces.
func Wrapped(line string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.ReplaceAll(line, "\t", "    "), "\n") {
		if i > 0 {
			b.WriteByte('\n')
			part = strings.Repeat(" ", indent+2) + part
		}
		wrap(&b, part)
	}
	return b.String()
}

// wrap writes a line in parts.
func wrap(b *strings.Builder, line string) {
	hang := hangOf(line)
	for room := Width; utf8.RuneCountInString(line) > room; room = Width - hang {
		end := 0 // of the part, in bytes
		for range room {
			_, n := utf8.DecodeRuneInString(line[end:])
			end += n
		}
		next := end // of the rest
		if line[end] != ' ' {
			least := 0
			if room == Width {
				least = hang - 2 // not in the name, and not before the text
			}
			if at := strings.LastIndexByte(line[:end], ' '); at > least {
				end, next = at, at
			}
		}
		b.WriteString(strings.TrimRight(line[:end], " ") + "\n" + strings.Repeat(" ", hang))
		line = strings.TrimLeft(line[next:], " ")
	}
	b.WriteString(line)
}

// hangOf returns the column of the parts after the first: two after the beginning of the text.
func hangOf(line string) int {
	at := min(indent, len(line))
	for at < len(line) && line[at] == ' ' {
		at++
	}
	return min(at, Width/2) + 2
}
