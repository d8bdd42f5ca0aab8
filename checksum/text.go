package checksum

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrText means that a text is not 16 lower-case hexadecimal digits.
var ErrText = errors.New("checksum: want 16 lower-case hexadecimal digits")

// FormatRoot returns a root, or any 64-bit sum, as 16 hexadecimal digits.
func FormatRoot(root uint64) string { return fmt.Sprintf("%016x", root) }

// ParseRoot reads what [FormatRoot] returns, and nothing else. It returns [ErrText].
func ParseRoot(text string) (uint64, error) {
	if len(text) != 16 {
		return 0, fmt.Errorf("%w, got %d bytes", ErrText, len(text))
	}
	root, err := strconv.ParseUint(text, 16, 64)
	if err != nil || FormatRoot(root) != text {
		return 0, fmt.Errorf("%w, got %q", ErrText, text)
	}
	return root, nil
}
