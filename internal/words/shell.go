package words

import "strings"

// plain has the characters of words that a shell leaves alone.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// ShellWord returns a word as people type it in a shell: in quotation marks if it has other characters than names have.
func ShellWord(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
