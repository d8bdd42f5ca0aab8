package fixed

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/decimal"
)

var (
	// ErrSyntax reports text that is not a decimal number.
	ErrSyntax = decimal.ErrSyntax
	// ErrRange reports a number that does not fit.
	ErrRange = decimal.ErrRange
)

// Parse reads a decimal such as "-0.25", rounded to nearest, ties to even. It takes no exponent. The error wraps [ErrSyntax]
// or [ErrRange].
func Parse(s string) (Q, error) {
	v, err := decimal.Parse(s, 32)
	if err != nil {
		return 0, fmt.Errorf("fixed: %w: %q", err, s)
	}
	return Q(v), nil
}

// MustParse is [Parse] for constants in the source. It panics on an error.
func MustParse(s string) Q {
	x, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return x
}

// String returns the shortest decimal that Parse reads back as x.
func (x Q) String() string {
	var buf [48]byte
	return string(decimal.Append(buf[:0], int64(x), 32))
}

// AppendText appends what String returns.
func (x Q) AppendText(b []byte) ([]byte, error) { return decimal.Append(b, int64(x), 32), nil }

// MarshalText returns what String returns.
func (x Q) MarshalText() ([]byte, error) { return x.AppendText(nil) }

// UnmarshalText reads what [Parse] reads.
func (x *Q) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	if err != nil {
		return err
	}
	*x = v
	return nil
}

// MarshalJSON writes a JSON number with all its digits.
func (x Q) MarshalJSON() ([]byte, error) { return x.AppendText(nil) }

// UnmarshalJSON reads a JSON number without an exponent, or the same in quotes. null leaves x unchanged.
func (x *Q) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	return x.UnmarshalText(unquoted(text))
}

// ParseTurn reads a fraction of a turn, at least 0 and less than 1, such as "0.25". The error wraps [ErrSyntax] or [ErrRange].
func ParseTurn(s string) (Turn, error) {
	v, err := decimal.ParseUint(s, 32)
	if err == nil && v > 1<<32-1 {
		err = ErrRange
	}
	if err != nil {
		return 0, fmt.Errorf("fixed: turn: %w: %q", err, s)
	}
	return Turn(v), nil
}

// String returns t as the shortest decimal fraction of a turn that [ParseTurn] reads back as t.
func (t Turn) String() string {
	var buf [48]byte
	return string(decimal.AppendUint(buf[:0], uint64(t), 32))
}

// AppendText appends what String returns.
func (t Turn) AppendText(b []byte) ([]byte, error) {
	return decimal.AppendUint(b, uint64(t), 32), nil
}

// MarshalText returns what String returns.
func (t Turn) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalText reads what [ParseTurn] reads.
func (t *Turn) UnmarshalText(text []byte) error {
	v, err := ParseTurn(string(text))
	if err != nil {
		return err
	}
	*t = v
	return nil
}

// MarshalJSON writes a JSON number with all its digits.
func (t Turn) MarshalJSON() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalJSON reads a JSON number without an exponent, or the same in quotes. null leaves t unchanged.
func (t *Turn) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	return t.UnmarshalText(unquoted(text))
}

// unquoted returns text without quotes around it.
func unquoted(text []byte) []byte {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}
