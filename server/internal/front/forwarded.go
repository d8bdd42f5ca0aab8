package front

import "strings"

// The headers in which a proxy can name its client. A proxy appends to one of them and passes on the other as the client
// sent it, so the server reads only the one that its operator names.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded" // RFC 7239
)

// forwardedFor returns the for parameter of each element of a Forwarded header; "" for an element without one. Elements
// are separated by commas, and parameters by semicolons. A value can be quoted.
func forwardedFor(header string) []string {
	var names []string
	for _, element := range splitUnquoted(header, ',') {
		name := ""
		for _, pair := range splitUnquoted(element, ';') {
			if key, value, _ := strings.Cut(pair, "="); strings.EqualFold(strings.TrimSpace(key), "for") {
				name = unquoted(strings.TrimSpace(value))
			}
		}
		names = append(names, name)
	}
	return names
}

// splitUnquoted splits a text at each separator that is not in a quoted string.
func splitUnquoted(text string, separator byte) (parts []string) {
	start, inQuotes := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && inQuotes:
			i++
		case c == '"':
			inQuotes = !inQuotes
		case c == separator && !inQuotes:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// unquoted returns the value of a quoted string. Addresses contain no escapes, so it leaves those.
func unquoted(value string) string {
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
		return value[1 : n-1]
	}
	return value
}
