package recorder

import "unicode/utf8"

const digits = "0123456789abcdef"

// appendHash appends a sum as text.
func appendHash(b []byte, hash uint64) []byte {
	b = append(b, `"0000000000000000"`...)
	for i := len(b) - 2; hash != 0; i-- {
		b[i] = digits[hash&15]
		hash >>= 4
	}
	return b
}

// appendText appends valid UTF-8 as a text of JSON.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// valid reports whether a text is UTF-8 of a size.
func valid(text string, least, most int) bool {
	return len(text) >= least && len(text) <= most && utf8.ValidString(text)
}
