package words

import (
	"regexp"
	"strings"
)

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// ShellWord quotes a word for a shell, if need be.
func ShellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
