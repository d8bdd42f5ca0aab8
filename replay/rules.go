package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A RulesSum identifies a module of rules: the SHA-256 of its bytes.
type RulesSum [sha256.Size]byte

// String returns the sum in hexadecimal digits.
func (s RulesSum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText returns what String does.
func (s RulesSum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// SumRules returns the sum of a module.
func SumRules(module []byte) RulesSum { return sha256.Sum256(module) }

// Rules are what a file says about the rules of its match: which module has them, and perhaps the module itself.
type Rules struct {
	Sum       RulesSum `json:"sum"`
	SizeBytes int      `json:"size_bytes"` // of the module; 0 if it is not in the file
	packed    []byte
}

// NewRules returns the rules of a module. Attached to a file, the file has the module in it.
func NewRules(module []byte) (*Rules, error) {
	if len(module) == 0 || len(module) > MaxRules {
		return nil, fmt.Errorf("replay: %w: a module of %d bytes, want 1 to %d", ErrLimit, len(module), MaxRules)
	}
	packed, err := packRules(module)
	if err != nil {
		return nil, err
	}
	if len(packed) > maxBlock/2 {
		return nil, fmt.Errorf("replay: %w: a module of %d bytes, compressed, want at most %d", ErrLimit, len(packed), maxBlock/2)
	}
	return &Rules{SumRules(module), len(module), packed}, nil
}

// Reference returns the same rules without the module. Attached to a file, the module is found elsewhere, by its sum: many
// matches can share one.
func (r *Rules) Reference() *Rules { return &Rules{Sum: r.Sum} }

// Module returns the bytes of the module, or nil if it is not in the file. The error is that of bytes that are another module.
func (r *Rules) Module() ([]byte, error) {
	if r.SizeBytes == 0 {
		return nil, nil
	}
	if err := oneFrame(r.packed); err != nil {
		return nil, fmt.Errorf("replay: %w: the module of the rules: %w", ErrCorrupt, err)
	}
	module, err := decompressor().DecodeAll(r.packed, make([]byte, 0, r.SizeBytes))
	if err != nil {
		return nil, fmt.Errorf("replay: %w: the module of the rules: %w", ErrCorrupt, err)
	}
	if sum := SumRules(module); len(module) != r.SizeBytes || sum != r.Sum {
		return nil, fmt.Errorf("replay: %w: the module of the rules has %d bytes with the sum %s, want %d and %s", ErrCorrupt, len(module), sum, r.SizeBytes, r.Sum)
	}
	return module, nil
}

// webAssembly is the kind of rules that this code knows.
const webAssembly = 1

// append appends the body of a block.
func (r *Rules) append(dst []byte) []byte {
	dst = append(append(dst, webAssembly), r.Sum[:]...)
	return append(binary.AppendUvarint(dst, uint64(r.SizeBytes)), r.packed...)
}

// parseRules reads the body of a block. It returns nil for an unknown kind. The rules share the memory of the body.
func parseRules(body []byte) (*Rules, error) {
	switch {
	case len(body) == 0:
		return nil, fmt.Errorf("%w: rules without a kind", ErrInvalid)
	case body[0] != webAssembly:
		return nil, nil
	case len(body) < 1+sha256.Size+1:
		return nil, fmt.Errorf("%w: rules of %d bytes, want at least %d", ErrInvalid, len(body), 1+sha256.Size+1)
	}
	r := &Rules{Sum: RulesSum(body[1 : 1+sha256.Size])}
	n, packed, err := parseUvarint(body[1+sha256.Size:], math.MaxInt64)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: rules: %w", ErrInvalid, err)
	case n > MaxRules:
		return nil, fmt.Errorf("%w: rules: a module of %d bytes, want at most %d", ErrLimit, n, MaxRules)
	case (n == 0) != (len(packed) == 0):
		return nil, fmt.Errorf("%w: rules: a module of %d bytes in %d", ErrInvalid, n, len(packed))
	}
	r.SizeBytes, r.packed = int(n), packed
	return r, nil
}

// takeRules checks the form of the rules. Whoever uses the module compares its sum.
func (r *Reader) takeRules(body []byte) error {
	switch {
	case !r.ended:
		return fmt.Errorf("%w: rules before the end record", ErrInvalid)
	case r.ruled:
		return fmt.Errorf("%w: two blocks of rules", ErrInvalid)
	}
	r.ruled = true
	rules, err := parseRules(body)
	if err != nil || rules == nil {
		return err
	}
	r.rules = &Rules{Sum: rules.Sum, SizeBytes: rules.SizeBytes}
	return nil
}

// maxRulesTick is how many ticks after the first state the log may name the module of its rules.
const maxRulesTick = 100

// takeRulesEvent takes the event with the rules of the match, see [record.EventRules]. The first one counts.
func (r *Reader) takeRulesEvent(rec *record.Record) {
	if r.partial || r.rules != nil || r.tick-r.base > maxRulesTick {
		return
	}
	if b, err := hex.DecodeString(rec.RulesSum()); err == nil && len(b) == sha256.Size {
		r.rules = &Rules{Sum: RulesSum(b)}
	}
}

// Rules returns what the file says about the rules of its match, or nil if it says nothing: what was attached to it, or else what
// its log says since the match began. Of the records it reads the first only. The error is a [*DamageError] where the file becomes
// unreadable.
func (r *Reader) Rules() (*Rules, error) {
	rules, err := r.attachedRules()
	if rules != nil {
		return rules, err
	}
	f, ferr := r.Reopen()
	if ferr != nil {
		return nil, ferr
	}
	for f.rules == nil && f.tick-f.base <= maxRulesTick {
		if _, err := f.Next(); err != nil {
			break // the heads of the blocks say where the file becomes unreadable
		}
	}
	return f.rules, err
}

// attachedRules returns the rules in a block. It reads the heads of the blocks only.
func (r *Reader) attachedRules() (*Rules, error) {
	f, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	for f.offset < f.size {
		f.start = f.offset
		var head [1 + maxLengthSize]byte
		n := int(min(int64(len(head)), f.size-f.start))
		if err := f.readAt(head[:n], f.start); err != nil {
			return nil, err
		}
		kind, size, header, err := parseBlockHeader(head[:n])
		if err != nil {
			return nil, f.damage(err)
		}
		if err := checkKnown(kind); err != nil {
			return nil, f.damage(err) // such as zeros
		}
		if kind < firstOptional && size == 0 {
			return nil, f.damage(fmt.Errorf("%w: a block of kind %d without records", ErrInvalid, kind))
		}
		if kind == blockRules {
			_, body, _, _, err := f.blockAt(f.start)
			if err != nil {
				return nil, f.damage(err)
			}
			rules, err := parseRules(body)
			if err != nil {
				return nil, f.damage(err)
			}
			return rules, nil
		}
		if left := f.size - f.start - int64(header) - checkSize; left < 0 || size > uint64(left) {
			return nil, f.damage(fmt.Errorf("the file ends inside a block: %w", io.ErrUnexpectedEOF))
		}
		f.offset += int64(header) + int64(size) + checkSize
	}
	return nil, nil
}

// Attach copies the file of r to w with rules in place of those that it has; nil takes them away. The match must have ended. Its
// content hash and all signatures of it stay. Of the signatures that cover the rules, too, those of the same rules stay.
func Attach(w io.Writer, r *Reader, rules *Rules) error {
	s, err := readSigned(r)
	if err != nil {
		return err
	}
	return s.write(w, r, rules, s.signatures)
}
