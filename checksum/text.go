package checksum

import (
	"errors"
	"fmt"
)

// ErrText means that a text is not 16 lower-case hexadecimal digits.
var ErrText = errors.New("checksum: want 16 lower-case hexadecimal digits")

const (
	hexDigits  = "0123456789abcdef"
	textLength = 16
)

// AppendRoot appends a root, or any 64-bit sum, as 16 hexadecimal digits.
func AppendRoot(dst []byte, root uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[root>>shift&15])
	}
	return dst
}

// FormatRoot returns a root, or any 64-bit sum, as 16 hexadecimal digits.
func FormatRoot(root uint64) string { return string(AppendRoot(make([]byte, 0, textLength), root)) }

// ParseRoot reads what [FormatRoot] returns, and nothing else. It returns [ErrText].
func ParseRoot(text string) (uint64, error) {
	if len(text) != textLength {
		return 0, fmt.Errorf("%w, got %d bytes", ErrText, len(text))
	}
	root := uint64(0)
	for i := range len(text) {
		digit := uint64(0)
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digit = uint64(c - '0')
		case c >= 'a' && c <= 'f':
			digit = uint64(c-'a') + 10
		default:
			return 0, fmt.Errorf("%w, got %q", ErrText, text)
		}
		root = root<<4 | digit
	}
	return root, nil
}
