//go:build !js

package tooltest

import (
	"strings"
	"unicode/utf8"
)

// Overflowing returns the lines of a text with more columns than a width, except for words that are as wide alone.
func Overflowing(text string, width int) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
			lines = append(lines, line)
		}
	}
	return lines
}
