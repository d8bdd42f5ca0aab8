package pack

import (
	"strings"
	"unicode/utf8"
)

// Clip cuts text to at most max bytes of valid UTF-8, between characters.
func Clip(text string, max int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max]
}
