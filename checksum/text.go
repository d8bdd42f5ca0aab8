package checksum

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrText means that a text is not 16 lower-case hexadecimal digits.
var ErrText = errors.New("checksum: want 16 lower-case hexadecimal digits")

// FormatHash returns a hash, or any 64-bit sum, as 16 hexadecimal digits.
func FormatHash(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// ParseHash reads what [FormatHash] returns, and nothing else. It returns [ErrText].
func ParseHash(text string) (uint64, error) {
	if len(text) != 16 {
		return 0, fmt.Errorf("%w, got %d bytes", ErrText, len(text))
	}
	hash, err := strconv.ParseUint(text, 16, 64)
	if err != nil || FormatHash(hash) != text {
		return 0, fmt.Errorf("%w, got %q", ErrText, text)
	}
	return hash, nil
}
