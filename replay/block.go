package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	magic      = "\x89SSR\r\n\x1a\n"
	version    = 1
	prefixSize = 32
	checkSize  = 8

	blockBatch     = 1  // a batch of records
	blockSegment   = 2  // a segment: compressed records
	firstOptional  = 64 // readers skip unknown kinds from here on
	blockIndex     = 64 // where the keyframes are
	blockSignature = 65 // of the content
	blockRules     = 66 // of the match
)

// maxGathered is how many bytes of records make the Writer write a segment, even without a keyframe.
const maxGathered = 1 << 20

func appendPrefix(dst []byte, id lockstep.MatchID) []byte {
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	return append(dst, id[:]...)
}

func appendBlockHeader(dst []byte, kind byte, size int) []byte {
	return binary.AppendUvarint(append(dst, kind), uint64(size))
}

// parseBlockHeader returns the kind, the size of the body and that of the header. It returns io.ErrUnexpectedEOF if b is too short.
func parseBlockHeader(b []byte) (kind byte, size uint64, header int, err error) {
	n := 0
	if len(b) > 1 {
		size, n = binary.Uvarint(b[1:min(len(b), 1+maxLengthSize)])
	}
	switch {
	case n == 0 && len(b) < 1+maxLengthSize:
		return 0, 0, 0, fmt.Errorf("the file ends inside the head of a block: %w", io.ErrUnexpectedEOF)
	case n <= 0 || n > 1 && b[n] == 0:
		return 0, 0, 0, fmt.Errorf("%w: length of the block", ErrCorrupt)
	}
	return b[0], size, 1 + n, nil
}

// maxLengthSize is the largest size of a block's length in bytes, enough for 2^35.
const maxLengthSize = 5

// checkBlock returns the check of a block, from the check before it and all other bytes of the block.
func checkBlock(before uint64, block ...[]byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	var b [checkSize]byte
	binary.LittleEndian.PutUint64(b[:], before)
	d.Write(b[:])
	for _, p := range block {
		d.Write(p)
	}
	return d.Sum64()
}

// A mark is a keyframe of the tick of the last frame before it, so that a follower can begin there.
type mark struct {
	tick   lockstep.Tick
	offset int64 // of its block
	at     int   // where it is in the block's records
}

func parseIndex(body []byte, at int64) ([]mark, error) {
	bad := func(format string, args ...any) ([]mark, error) {
		return nil, fmt.Errorf("%w: index: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	if len(body) < 8 {
		return bad("got %d bytes, want at least 8", len(body))
	}
	b := body[:len(body)-8]
	if self := binary.LittleEndian.Uint64(body[len(b):]); self != uint64(at) {
		return bad("got the offset %d, want its own, %d", self, at)
	}
	n, b, err := parseUvarint(b, maxKeyframes)
	if err != nil || n == 0 || n > uint64(len(b)/3) { // each takes three bytes at least
		return bad("got %d keyframes in %d bytes, want 1 to %d", n, len(b), min(len(b)/3, maxKeyframes))
	}
	marks := make([]mark, 0, n)
	var before mark
	for i := range n {
		var v [3]uint64
		most := [3]uint64{uint64(math.MaxUint32 - before.tick), uint64(at - before.offset), maxBlock + lockstep.MaxStateSize}
		for k := range v {
			if v[k], b, err = parseUvarint(b, most[k]); err != nil {
				return bad("keyframe %d: %v", i, err)
			}
		}
		m := mark{before.tick + lockstep.Tick(v[0]), before.offset + int64(v[1]), int(v[2])}
		if i > 0 && v[0] == 0 || m.offset < prefixSize || m.offset >= at {
			return bad("keyframe %d: got tick %d at byte %d, want a tick after %d and a byte from %d to %d", i, m.tick, m.offset, before.tick, prefixSize, at)
		}
		marks = append(marks, m)
		before = m
	}
	if len(b) > 0 {
		return bad("%d bytes after the last keyframe", len(b))
	}
	return marks, nil
}

func appendIndex(dst []byte, marks []mark, at int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(marks)))
	var before mark
	for _, m := range marks {
		dst = binary.AppendUvarint(dst, uint64(m.tick-before.tick))
		dst = binary.AppendUvarint(dst, uint64(m.offset-before.offset))
		dst = binary.AppendUvarint(dst, uint64(m.at))
		before = m
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(at))
}

// A segmentHead is the part of a segment before the compressed bytes.
type segmentHead struct {
	first lockstep.Tick // the stream's tick before it
	ticks uint32        // in it
	size  uint64        // of its records
	sum   uint64        // xxHash64 of its records
}

func (h *segmentHead) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(h.first))
	dst = binary.AppendUvarint(dst, uint64(h.ticks))
	dst = binary.AppendUvarint(dst, h.size)
	return binary.LittleEndian.AppendUint64(dst, h.sum)
}

func parseSegmentHead(body []byte) (h segmentHead, packed []byte, err error) {
	first, body, err := parseUvarint(body, math.MaxUint32)
	if err != nil {
		return h, nil, err
	}
	ticks, body, err := parseUvarint(body, math.MaxUint32-first)
	if err != nil {
		return h, nil, err
	}
	size, body, err := parseUvarint(body, math.MaxInt64)
	if err != nil {
		return h, nil, err
	}
	if len(body) < 8 || size == 0 {
		return h, nil, errors.New("head of a segment")
	}
	return segmentHead{lockstep.Tick(first), uint32(ticks), size, binary.LittleEndian.Uint64(body)}, body[8:], nil
}

func largest(packed int) uint64 { return ratioFree + maxRatio*uint64(packed) }

// affordable returns how many bytes of records all segments of a file of size bytes may have together. States of keyframes do not
// count: maxRatio limits them, they take little time for each byte, and those of some games compress to less than a hundredth.
func affordable(size int64) int64 { return unpackedFree + maxUnpackedRatio*size }

// parseUvarint reads a number of at most max in its smallest form.
func parseUvarint(b []byte, max uint64) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 || v > max {
		return 0, nil, fmt.Errorf("got number %d in %d bytes, want at most %d", v, n, max)
	}
	return v, b[n:], nil
}

// unpack returns a segment's records in dst, which it enlarges at most to the size in the head.
func (h *segmentHead) unpack(dst, packed []byte) ([]byte, error) {
	if uint64(cap(dst)) < h.size {
		dst = make([]byte, 0, h.size)
	}
	if err := oneFrame(packed); err != nil {
		return nil, err
	}
	records, err := decompressor().DecodeAll(packed, dst[:0:h.size])
	if err != nil {
		return nil, err
	}
	if uint64(len(records)) != h.size {
		return nil, fmt.Errorf("got %d bytes of records, want %d", len(records), h.size)
	}
	if sum := xxhash.Sum64(records); sum != h.sum {
		return nil, fmt.Errorf("got sum %016x of the records, want %016x", sum, h.sum)
	}
	return records, nil
}

// oneFrame returns an error unless packed is one frame of compressed bytes. A decoder would also read later frames, and skip some.
func oneFrame(packed []byte) error {
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return err
	}
	if h.Skippable {
		return errors.New("a skippable frame")
	}
	at := h.HeaderSize
	for last := false; !last; {
		if len(packed)-at < 3 {
			return io.ErrUnexpectedEOF
		}
		b := uint32(packed[at]) | uint32(packed[at+1])<<8 | uint32(packed[at+2])<<16
		size := int(b >> 3)
		if b>>1&3 == 1 { // one byte that is repeated
			size = 1
		}
		at += 3 + size
		last = b&1 == 1
	}
	if h.HasCheckSum {
		at += 4
	}
	switch {
	case at > len(packed):
		return io.ErrUnexpectedEOF
	case at < len(packed):
		return fmt.Errorf("%d bytes after the compressed frame", len(packed)-at)
	}
	return nil
}

// All decoding shares one decoder, which never returns more than the capacity of the slice that it decodes into.
var decompressor = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(maxBlock+lockstep.MaxStateSize), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// A Level says how well a Writer compresses segments.
type Level uint8

// The levels. All decode equally fast.
const (
	LevelBest   Level = iota // smallest: for files that are kept
	LevelBetter              // less memory; files are 5% larger
)

// A Hash is a SHA-256: of a match's content, see [HashContent], or of a module of rules, see [SumRules].
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns what String does.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// SumRules returns the sum of a module.
func SumRules(module []byte) Hash { return sha256.Sum256(module) }

// Rules are what a file says about the rules of its match: which module has them, and perhaps the module itself.
type Rules struct {
	Sum       Hash `json:"sum"`
	SizeBytes int  `json:"size_bytes"` // of the module; 0 if it is not in the file
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

// Reference returns the same rules without the module, which is then found elsewhere by its sum: many matches can share one.
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
	r := &Rules{Sum: Hash(body[1 : 1+sha256.Size])}
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
