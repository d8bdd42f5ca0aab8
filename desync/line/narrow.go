package line

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/internal/words"
)

// narrow returns the first part in which two values differ that a text names: the parameter of a call, the field of a struct, the
// element of a list. more is how many others differ. part is "" if the values have no common parts.
func narrow(text, a, b string) (part, x, y string, more int) {
	if rest, is := probe.Outside(a); is {
		if other, too := probe.Outside(b); too {
			a, b = rest, other
		}
	}
	if x, y := probe.WithoutRoom(a), probe.WithoutRoom(b); x != y {
		a, b = x, y
	}
	if x, y := withoutSum(a), withoutSum(b); x != y {
		a, b = x, y
	}
	x, y = a, b
	if names := parameters(text); len(names) > 1 {
		as, bs := split(a, ", "), split(b, ", ")
		if len(as) == len(names) && len(bs) == len(names) {
			if part, x, y, more = different(names, as, bs, ""); part == "" {
				return "", a, b, 0
			}
		}
	}
	for {
		name, nextX, nextY, others := inside(x, y)
		if name == "" {
			return part, x, y, more
		}
		part, x, y, more = part+name, nextX, nextY, more+others
	}
}

// withoutSum cuts off the sum behind the text of what a call leaves.
func withoutSum(s string) string {
	if i := strings.LastIndex(s, " #"); i > 0 && strings.ContainsAny(s[i-1:i], "}]") {
		return s[:i]
	}
	return s
}

// inside returns the first part of two structs or lists that differs, or "".
func inside(a, b string) (part, x, y string, more int) {
	a, b = strings.TrimPrefix(a, "&"), strings.TrimPrefix(b, "&")
	kind := a[:min(len(a), 1)] + b[:min(len(b), 1)]
	as, bs := items(bare(a), kind == "{{"), items(bare(b), kind == "{{")
	if len(as) != len(bs) || kind != "{{" && kind != "[[" {
		return "", a, b, 0
	}
	names := make([]string, len(as))
	for i := range as {
		if kind == "[[" {
			names[i] = fmt.Sprintf("[%d]", i)
			continue
		}
		name, value, ok := strings.Cut(as[i], ":")
		other, found := strings.CutPrefix(bs[i], name+":")
		if !ok || !found {
			return "", a, b, 0
		}
		names[i], as[i], bs[i] = "."+name, value, other
	}
	return different(names, as, bs, "…")
}

// items returns the fields of a struct, or the elements of a list. Values may have spaces: "&Unit 5", "map of 2 entries".
func items(s string, fields bool) (all []string) {
	for i, word := range split(s, " ") {
		name, _, ok := strings.Cut(word, ":")
		more := fields && !(ok && token.IsIdentifier(name))
		if !fields && i > 0 {
			last := all[len(all)-1]
			more = strings.HasPrefix(last, "&") && !strings.ContainsAny(last, " {") && !strings.HasPrefix(word, "&")
		}
		if more && i > 0 {
			all[len(all)-1] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}

// bare returns what a struct or a list has, or "" if its text is not whole.
func bare(s string) string {
	if len(s) < 2 || !strings.ContainsAny(s[len(s)-1:], "}]") {
		return ""
	}
	return s[1 : len(s)-1]
}

// different returns the first part that differs. A text with cut in it is not whole.
func different(names, as, bs []string, cut string) (part, x, y string, more int) {
	for i := range as {
		if as[i] == bs[i] {
			continue
		}
		if part != "" {
			more++
		} else if part, x, y = names[i], as[i], bs[i]; cut != "" && (strings.Contains(x, cut) || strings.Contains(y, cut)) {
			return "", "", "", 0
		}
	}
	return part, x, y, more
}

// parameters returns the names in the text of a call's beginning, such as "game.(*World).hit(w, by)".
func parameters(text string) []string {
	open := strings.LastIndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") || open+2 > len(text)-1 {
		return nil
	}
	return strings.Split(text[open+1:len(text)-1], ", ")
}

// split cuts a text at separators that are in no brackets and no string.
func split(s, separator string) (all []string) {
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], separator):
			all = append(all, s[from:i])
			from = i + len(separator)
		}
	}
	return append(all, s[from:])
}

// valuesText returns the values of a finding, or the first part in which they differ with how it is called.
func valuesText(text string, values [2]string) string {
	part, x, y, more := narrow(text, values[0], values[1])
	text = strings.TrimSpace(text)
	both := pair(x, y)
	switch {
	case part == "":
		return fmt.Sprintf("%s is %s", text, both)
	case more > 0:
		return fmt.Sprintf("%s of %s is %s, and %s", strings.TrimPrefix(part, "."), text, both, words.Count(more, "more part"))
	}
	return fmt.Sprintf("%s of %s is %s", strings.TrimPrefix(part, "."), text, both)
}

// pair returns two values as text, see shorter.
func pair(x, y string) string {
	x, y = shorter(x, y)
	return none(x) + " | " + none(y)
}

// shorter returns of structs only the first field, if that is enough to tell them apart.
func shorter(x, y string) (string, string) {
	if a, b := short(x), short(y); a != b {
		return a, b
	}
	return x, y
}

func isStruct(s string) bool { return strings.HasPrefix(s, "{") }

// short returns a struct with its first field only.
func short(s string) string {
	if isStruct(s) {
		if all := items(bare(s), true); len(all) > 1 {
			return "{" + all[0] + " …}"
		}
	}
	return s
}

func none(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
