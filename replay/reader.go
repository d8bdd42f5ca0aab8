package replay

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Reader reads the records of a replay file from the beginning or a keyframe on. Its first error stays. It belongs to one goroutine.
type Reader struct {
	r          io.ReaderAt
	size       int64
	offset     int64 // of the next block
	start      int64 // of the present block
	chain      uint64
	match      lockstep.MatchID
	dec        record.Decoder
	block      []byte        // as it is in the file
	unpacked   []byte        // records of a segment
	spent      int64         // bytes of the records of all segments, except states
	keyframes  int           // that were read
	own        []byte        // a simulation's state, to be compared with a keyframe
	schema     *state.Schema // of the states; nil before the first comparison
	records    []byte        // of the current block
	body       []byte        // what is left of them
	last       []byte        // the record that was returned last
	header     []byte        // the header record
	landed     []byte        // records of the block that Seek went to, while the header is read
	seekable   []mark        // the keyframes so far, unless the Reader is partial
	partial    bool          // Seek was called
	signatures []signature
	tick       lockstep.Tick
	base       lockstep.Tick // of the first keyframe
	first      lockstep.Tick // claimed beginning of the segment
	until      lockstep.Tick // claimed end of the segment
	began      bool          // the first keyframe was read
	sealed     bool          // the current block is a segment
	ended      bool
	suspended  bool   // the last record says so
	indexed    bool   // the index was read
	ruled      bool   // rules were read
	rules      *Rules // them, without the module, or those that the log names; nil if neither is known
	failed     error  // of a failed read of bytes that the file has
	err        error
}

// NewReader returns a Reader of the first size bytes of r. It returns a [*DamageError] if they do not begin like a replay file.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	d := &Reader{r: r, size: size, block: make([]byte, prefixSize)}
	b := d.block[:min(size, prefixSize)] // a crash may have left less than a prefix, and another version may have less
	if err := d.readAt(b, 0); err != nil {
		return nil, err
	}
	if n := min(len(b), len(magic)); string(b[:n]) != magic[:n] {
		return nil, d.damage(fmt.Errorf("%w: magic %x, want %x", ErrFormat, b[:n], magic))
	}
	if v := binary.LittleEndian.Uint32(d.block[8:]); v != version && len(b) >= 12 {
		return nil, d.damage(fmt.Errorf("%w: format version %d, want %d", ErrUnsupported, v, version))
	}
	if f := binary.LittleEndian.Uint32(d.block[12:]); f != 0 && len(b) >= 16 {
		return nil, d.damage(fmt.Errorf("%w: flags %#x, want 0", ErrUnsupported, f))
	}
	if len(b) < prefixSize {
		return nil, d.damage(fmt.Errorf("%w: %d bytes, want at least %d: %w", ErrFormat, size, prefixSize, io.ErrUnexpectedEOF))
	}
	copy(d.match[:], d.block[16:])
	d.chain = xxhash.Sum64(d.block)
	d.offset = prefixSize
	return d, nil
}

// Reopen returns a new Reader of the same bytes, at their beginning.
func (r *Reader) Reopen() (*Reader, error) { return NewReader(r.r, r.size) }

func (r *Reader) readAt(p []byte, at int64) error {
	n, err := r.r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return r.damage(io.ErrUnexpectedEOF) // the file has shrunk
	}
	return r.unread(at, err)
}

func (r *Reader) unread(at int64, err error) error {
	r.failed = fmt.Errorf("replay: read at byte %d: %w", at, err)
	return r.failed
}

func (r *Reader) damage(err error) *DamageError {
	return &DamageError{Offset: r.start, Tick: r.tick, Err: err}
}

// grow says that the file now has size bytes. A Reader that came to the end of the file, whole or torn, reads on.
func (r *Reader) grow(size int64) {
	r.size = max(r.size, size)
	if d := (*DamageError)(nil); errors.As(r.err, &d) && d.Next == 0 && ClassOf(d).Early() && !errors.Is(d, ErrFormat) {
		r.err = nil
	}
}

// Offset returns the offset of the last record's block.
func (r *Reader) Offset() int64 { return r.start }

// Record returns the bytes of the record that Next returned last, valid until the next call.
func (r *Reader) Record() []byte { return r.last }

// Finished reports whether the Reader has met an index, a signature or rules, which only a complete file of an ended match has.
func (r *Reader) Finished() bool { return r.indexed || r.ruled || len(r.signatures) > 0 }

// Size returns the size of the file in bytes, from NewReader, or at the last look of a [LiveReader].
func (r *Reader) Size() int64 { return r.size }

// Next returns the next record, valid until the next call, [io.EOF] after the end record, or a [*DamageError] at unreadable bytes.
func (r *Reader) Next() (*record.Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	return rec, nil
}

// All iterates over the remaining records, see [record.All].
func (r *Reader) All() iter.Seq2[*record.Record, error] { return record.All(r.Next) }

func (r *Reader) next() (*record.Record, error) {
	for len(r.body) == 0 {
		if err := r.nextBlock(); err != nil {
			return nil, err
		}
	}
	rec, rest, err := r.dec.Decode(r.body)
	if err != nil {
		// The block was not changed, so its writer wrote nonsense.
		return nil, r.damage(fmt.Errorf("%w: byte %d of the block's records: %w", ofRecord(err), len(r.records)-len(r.body), err))
	}
	r.last, r.body = r.body[:len(r.body)-len(rest)], rest
	r.ended = rec.Kind == record.KindEnd
	r.suspended = rec.Event == record.EventSuspended
	size := len(r.last) - len(rec.Keyframe.State)
	if size > maxRecord {
		return nil, r.damage(fmt.Errorf("%w: a record of %d bytes, want at most %d", ErrLimit, size, maxRecord))
	}
	if r.sealed {
		r.spent += int64(size)
	}
	switch rec.Kind {
	case record.KindHeader:
		if rec.Header.Match != r.match {
			return nil, r.damage(fmt.Errorf("%w: header of match %s in the file of %s", ErrInvalid, rec.Header.Match, r.match))
		}
		if r.landed == nil {
			r.header = append(r.header[:0], r.last...)
		}
	case record.KindEvent:
		r.takeRulesEvent(rec)
	case record.KindKeyframe:
		if r.keyframes++; r.keyframes > maxKeyframes {
			return nil, r.damage(fmt.Errorf("%w: more than %d keyframes", ErrLimit, maxKeyframes))
		}
		r.meet(rec.Tick)
		if !r.began {
			r.began, r.tick, r.base = true, rec.Tick, rec.Tick
			if r.sealed && r.first != rec.Tick {
				return nil, r.damage(fmt.Errorf("%w: a segment from tick %d, want %d as its keyframe", ErrInvalid, r.first, rec.Tick))
			}
		}
	}
	if rec.Ticks() > 0 {
		r.tick = rec.Tick
	}
	return rec, nil
}

func (r *Reader) nextBlock() error {
	if r.landed != nil {
		r.records, r.body, r.landed = r.landed, r.landed, nil
		return nil
	}
	if err := r.leaveBlock(); err != nil {
		return err
	}
	r.start = r.offset
	left := r.size - r.offset
	if left == 0 && r.ended {
		return io.EOF
	}
	if left == 0 && r.suspended {
		return r.damage(suspendedError{})
	}
	if left == 0 {
		return r.damage(fmt.Errorf("no end record: %w", io.ErrUnexpectedEOF))
	}
	kind, body, check, end, err := r.readBlock(r.start, r.chain)
	if err != nil {
		return r.classify(err, end)
	}
	r.chain, r.offset = check, end
	if err := checkKnown(kind); err != nil {
		return r.damage(err)
	}
	if kind < firstOptional && r.ended {
		return r.damage(fmt.Errorf("%w: %d bytes after the end record", ErrInvalid, left))
	}
	return r.take(kind, body)
}

// checkKnown returns ErrUnsupported for a block that a reader must know and this one does not.
func checkKnown(kind byte) error {
	if kind < firstOptional && kind != blockBatch && kind != blockSegment {
		return fmt.Errorf("%w: unknown block of kind %d", ErrUnsupported, kind)
	}
	return nil
}

func (r *Reader) take(kind byte, body []byte) error {
	switch {
	case kind == blockBatch && len(body) == 0:
		return r.damage(fmt.Errorf("%w: a batch without records", ErrInvalid))
	case kind == blockBatch:
		r.records, r.body = body, body
	case kind == blockSegment:
		return r.takeSegment(body)
	default:
		return r.takeOptional(kind, body)
	}
	return nil
}

// readBlock reads the block at an offset and verifies its check. It returns the block's end, or its claimed end, if that is in the file.
func (r *Reader) readBlock(at int64, before uint64) (kind byte, body []byte, check uint64, end int64, err error) {
	var head [1 + maxLengthSize]byte
	n := int(min(int64(len(head)), r.size-at))
	if err := r.readAt(head[:n], at); err != nil {
		return 0, nil, 0, 0, err
	}
	kind, size, header, err := parseBlockHeader(head[:n])
	if err != nil {
		return 0, nil, 0, 0, err
	}
	if left := r.size - at - int64(header) - checkSize; left < 0 || size > uint64(left) {
		return 0, nil, 0, 0, fmt.Errorf("the file ends inside a block: %w", io.ErrUnexpectedEOF)
	}
	if size > maxBlock {
		if end, err = r.large(kind, at, int64(header), size, before); err != nil {
			return 0, nil, 0, end, err
		}
	}
	total := header + int(size) + checkSize
	if cap(r.block) < total {
		r.block = make([]byte, total)
	}
	r.block = r.block[:total]
	if err := r.readAt(r.block, at); err != nil {
		return 0, nil, 0, 0, err
	}
	end = at + int64(total)
	check = binary.LittleEndian.Uint64(r.block[total-checkSize:])
	if want := checkBlock(before, r.block[:total-checkSize]); check != want {
		return 0, nil, 0, end, fmt.Errorf("%w: got check %016x, want %016x", ErrCorrupt, check, want)
	}
	return kind, r.block[header : total-checkSize], check, end, nil
}

// blockAt reads the block at an offset and verifies its check, given the one before it in the file.
func (r *Reader) blockAt(at int64) (kind byte, body []byte, check uint64, end int64, err error) {
	if at != prefixSize && at < prefixSize+checkSize || at >= r.size {
		return 0, nil, 0, 0, fmt.Errorf("%w: no block at byte %d", ErrCorrupt, at)
	}
	var before [prefixSize]byte
	if at == prefixSize {
		if err := r.readAt(before[:], 0); err != nil {
			return 0, nil, 0, 0, err
		}
		return r.readBlock(at, xxhash.Sum64(before[:]))
	}
	if err := r.readAt(before[:checkSize], at-checkSize); err != nil {
		return 0, nil, 0, 0, err
	}
	return r.readBlock(at, binary.LittleEndian.Uint64(before[:]))
}

// CheckTicks returns [ErrLimit] if a simulation of the file may not have that many ticks with limit as its [SimulateOptions.MaxTicks].
func (r *Reader) CheckTicks(ticks, limit lockstep.Tick) error {
	most := maxTicks(limit, r.size)
	switch {
	case ticks <= most:
		return nil
	case limit == 0:
		return fmt.Errorf("replay: %w: %d ticks to simulate, want at most %d for a file of %d bytes without max-ticks", ErrLimit, ticks, most, r.size)
	}
	return fmt.Errorf("replay: %w: %d ticks to simulate, want at most %d", ErrLimit, ticks, most)
}

// takeOptional takes a block without records: an index, a signature, rules, or one of an unknown kind, which it skips.
func (r *Reader) takeOptional(kind byte, body []byte) error {
	var err error
	switch {
	case r.indexed:
		err = fmt.Errorf("%w: a block of kind %d after the index", ErrInvalid, kind)
	case kind == blockIndex:
		err = r.takeIndex(body)
	case kind == blockSignature:
		err = r.takeSignature(body)
	case kind == blockRules:
		err = r.takeRules(body)
	}
	if err != nil {
		return r.damage(err)
	}
	return nil
}

func (r *Reader) takeSegment(body []byte) error {
	h, packed, err := parseSegmentHead(body)
	if err == nil && r.began && h.first != r.tick {
		return r.damage(fmt.Errorf("%w: a segment after tick %d, want %d", ErrInvalid, h.first, r.tick))
	}
	if err == nil {
		err = r.afford(&h, packed)
	}
	if err == nil {
		r.unpacked, err = h.unpack(r.unpacked, packed)
	}
	if errors.Is(err, ErrLimit) {
		return r.damage(err)
	}
	if err != nil {
		return r.damage(fmt.Errorf("%w: segment: %w", ErrCorrupt, err))
	}
	r.records, r.body = r.unpacked, r.unpacked
	r.first, r.until = h.first, h.first+lockstep.Tick(h.ticks)
	r.sealed = true
	return nil
}

// leaveBlock checks that a block had its claimed ticks, and that the segments so far keep the limit of their records.
func (r *Reader) leaveBlock() error {
	if !r.sealed {
		return nil
	}
	r.sealed = false
	if r.tick != r.until {
		return r.damage(fmt.Errorf("%w: a segment up to tick %d, want %d", ErrInvalid, r.tick, r.until))
	}
	if most := affordable(r.size); r.spent > most {
		return r.damage(fmt.Errorf("%w: segments with %d bytes of records besides states in a file of %d, want at most %d", ErrLimit, r.spent, r.size, most))
	}
	return nil
}

// takeIndex checks an index, and if the Reader has read the whole file, that each entry names a keyframe.
func (r *Reader) takeIndex(body []byte) error {
	if !r.ended {
		return fmt.Errorf("%w: an index before the end record", ErrInvalid)
	}
	r.indexed = true
	marks, err := parseIndex(body, r.start)
	if err != nil || r.partial {
		return err
	}
	for _, m := range marks {
		i := sort.Search(len(r.seekable), func(i int) bool { return r.seekable[i].tick >= m.tick })
		if i == len(r.seekable) || r.seekable[i] != m {
			return fmt.Errorf("%w: index: no keyframe of tick %d at byte %d of the records of the block at byte %d", ErrInvalid, m.tick, m.at, m.offset)
		}
	}
	return nil
}

// meet notes a keyframe where a reader can begin: it is of the tick of the last frame, and the first of that tick.
func (r *Reader) meet(t lockstep.Tick) {
	n := len(r.seekable)
	if r.partial || r.began && t != r.tick || n > 0 && t <= r.seekable[n-1].tick {
		return
	}
	r.seekable = append(r.seekable, mark{t, r.start, len(r.records) - len(r.body) - len(r.last)})
}

// takeSignature checks the form of a signature and keeps it. Only the whole content shows whether it is valid.
func (r *Reader) takeSignature(body []byte) error {
	switch {
	case !r.ended:
		return fmt.Errorf("%w: a signature before the end record", ErrInvalid)
	case len(body) == 0:
		return fmt.Errorf("%w: a signature without a kind", ErrInvalid)
	case len(body) > maxSignature:
		return fmt.Errorf("%w: a signature of %d bytes, want at most %d", ErrLimit, len(body), maxSignature)
	case len(r.signatures) == maxSignatures:
		return fmt.Errorf("%w: more than %d signatures", ErrLimit, maxSignatures)
	case (body[0] == signedContent || body[0] == signedRules) && len(body) != signatureSize:
		return fmt.Errorf("%w: a signature of kind %d with %d bytes, want %d", ErrInvalid, body[0], len(body), signatureSize)
	}
	s := signature(slices.Clone(body))
	if key := s.key(); key != nil && slices.ContainsFunc(r.signatures, func(o signature) bool { return key.Equal(o.key()) }) {
		return fmt.Errorf("%w: two signatures by the key %x", ErrInvalid, key)
	}
	r.signatures = append(r.signatures, s)
	return nil
}

// A signature is the body of its block: the kind, and for Ed25519 the public key and the signature.
type signature []byte

// The kinds of signatures: Ed25519 of the content, or of the content and the rules.
const (
	signedContent = 1
	signedRules   = 2
)

const signatureSize = 1 + ed25519.PublicKeySize + ed25519.SignatureSize

func (s signature) key() ed25519.PublicKey {
	if s[0] != signedContent && s[0] != signedRules {
		return nil
	}
	return ed25519.PublicKey(s[1 : 1+ed25519.PublicKeySize])
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
		r.rules = &Rules{Sum: Hash(b)}
	}
}

// Rules returns what the file says about the rules of its match, or nil: what was attached to it, or else what the first records of its
// log say. The error is a [*DamageError] where the file becomes unreadable.
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
