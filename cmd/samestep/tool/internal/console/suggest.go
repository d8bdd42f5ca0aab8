//go:build !js

package console

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// DidYouMean returns a question with the word that is nearest to a mistyped one, to be added to an error, or nothing if
// none is near.
func DidYouMean(got string, words []string) string {
	best, least := "", max(1, len(got)/3)+1
	for _, word := range words {
		if n := edits(got, word); n < least {
			best, least = word, n
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// KeyMeant returns a question with the key of the settings file that is nearest to a mistyped flag, or nothing.
func KeyMeant(flag string, flags []cli.Flag) string {
	var keys []string
	for _, s := range SettingsIn(flags) {
		keys = append(keys, s.Name())
	}
	key := strings.TrimSuffix(strings.TrimPrefix(DidYouMean(strings.TrimPrefix(flag, "--"), keys), "; did you mean "), "?")
	if key == "" {
		return ""
	}
	return "; did you mean --" + SetFlag.Name + " " + key + "=VALUE?"
}

// CommandNames returns the names of commands.
func CommandNames(commands []*cli.Command) (names []string) {
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

// maxMistyped is the longest word that is compared with others, in bytes.
const maxMistyped = 64

// edits returns how many bytes must be added, removed, replaced or swapped with the next to make b of a.
func edits(a, b string) int {
	if len(a) > maxMistyped {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := 1
			if a[i-1] == b[j-1] {
				replaced = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// MistypedFlag returns the flag that an error of the flag parser does not know, with two dashes, or nothing.
func MistypedFlag(err error) string {
	_, name, found := strings.Cut(err.Error(), "flag provided but not defined: -")
	if !found {
		return ""
	}
	return "--" + strings.TrimPrefix(name, "-")
}
