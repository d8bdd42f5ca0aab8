package replay

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Index returns the ticks of the keyframes that Seek can go to, before any damage. Without an index it reads the whole file.
func (r *Reader) Index() []lockstep.Tick {
	marks := r.marks()
	ticks := make([]lockstep.Tick, len(marks))
	for i := range marks {
		ticks[i] = marks[i].tick
	}
	return ticks
}

// Seek goes to the last keyframe up to a tick, or else to the first one, and returns its tick. Next then returns the header, that
// keyframe, and the records after it, as if the match had begun there. Seek clears an error of the Reader.
func (r *Reader) Seek(tick lockstep.Tick) (lockstep.Tick, error) {
	marks := r.marks()
	if len(marks) > 0 {
		if err := r.seek(before(marks, tick)); err == nil {
			return before(marks, tick).tick, nil
		}
	}
	s, err := r.scan(math.MaxUint32) // the index is wrong
	if len(s.marks) == 0 {
		return 0, err
	}
	m := before(s.marks, tick)
	return m.tick, r.seek(m)
}

// before returns the last mark up to a tick, or else the first.
func before(marks []mark, tick lockstep.Tick) mark {
	i := sort.Search(len(marks), func(i int) bool { return marks[i].tick > tick })
	return marks[max(i-1, 0)]
}

func (r *Reader) marks() []mark {
	if marks, ok := r.readIndex(); ok {
		return marks
	}
	s, _ := r.scan(math.MaxUint32)
	return s.marks
}

func (r *Reader) seek(m mark) error {
	if r.header == nil {
		first, err := r.Reopen()
		if err == nil {
			_, err = first.Next()
		}
		if err != nil {
			return err
		}
		r.header = append([]byte{}, first.last...)
	}
	if err := r.land(m); err != nil {
		return err
	}
	r.dec, r.err, r.began, r.ended, r.keyframes = record.Decoder{}, nil, false, false, 0
	r.partial, r.indexed, r.signatures = true, false, nil
	r.landed, r.records, r.body = r.body, r.header, r.header
	return nil
}

func (r *Reader) land(m mark) error {
	r.start, r.began, r.sealed, r.spent = m.offset, false, false, 0
	kind, body, check, end, err := r.blockAt(m.offset)
	if err != nil {
		return r.damage(err)
	}
	r.chain, r.offset = check, end
	if err := checkKnown(kind); err != nil {
		return r.damage(err)
	}
	if kind >= firstOptional {
		return r.damage(fmt.Errorf("%w: no records here", ErrCorrupt))
	}
	if err := r.take(kind, body); err != nil {
		return err
	}
	if m.at >= len(r.body) {
		return r.damage(fmt.Errorf("%w: no keyframe at byte %d of the block's records", ErrCorrupt, m.at))
	}
	r.body = r.body[m.at:]
	if t, _, ok := keyframe(r.body); !ok || t != m.tick {
		return r.damage(fmt.Errorf("%w: no keyframe of tick %d", ErrCorrupt, m.tick))
	}
	r.first = m.tick // of the records from the mark on
	return nil
}

// keyframe returns the tick of the keyframe that records begin with, and the size of its state if they have all of it.
func keyframe(records []byte) (t lockstep.Tick, state int, ok bool) {
	var p pack.Reader
	p.Reset(records)
	p.Array(5, 5)
	kind := p.Uint(math.MaxUint8)
	t = lockstep.Tick(p.Uint(math.MaxUint32))
	if p.Err() != nil || record.Kind(kind) != record.KindKeyframe {
		return 0, 0, false
	}
	p.Uint(math.MaxUint64) // hash
	for range p.Array(0, 2*256) {
		p.Uint(math.MaxUint64)
	}
	return t, len(p.Binary(lockstep.MaxStateSize)), true
}

type survey struct {
	marks []mark
	last  lockstep.Tick // the last readable one
	block int           // bytes of a Reader's memory for the largest block
	state int           // bytes of the largest state

	signatures []signature
}

// memory returns about how many bytes a simulation of the file needs. The example game has 30 times as much as its state.
func (s *survey) memory() int { return s.block + 32*s.state }

// scan reads the whole file without simulating, up to its end or an error, which is ErrLimit at more ticks than the limit allows.
func (r *Reader) scan(limit lockstep.Tick) (s survey, err error) {
	ahead, err := r.Reopen()
	if err != nil {
		return s, err
	}
	defer func() { s.block, s.signatures = cap(ahead.block)+cap(ahead.unpacked), ahead.signatures }()
	for rec, err := range ahead.All() {
		if err != nil {
			return s, err
		}
		s.marks = ahead.seekable
		s.state = max(s.state, len(rec.Keyframe.State))
		s.last = ahead.tick
		if len(s.marks) > 0 {
			if err := r.CheckTicks(s.last-s.marks[0].tick, limit); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

func (r *Reader) readIndex() ([]mark, bool) {
	var tail [8 + checkSize]byte
	if r.size < prefixSize+int64(len(tail)) || r.readAt(tail[:], r.size-int64(len(tail))) != nil {
		return nil, false
	}
	at := int64(binary.LittleEndian.Uint64(tail[:]))
	aside := &Reader{r: r.r, size: r.size}
	kind, body, _, end, err := aside.blockAt(at)
	if err != nil || kind != blockIndex || end != r.size {
		return nil, false
	}
	marks, err := parseIndex(body, at)
	return marks, err == nil
}

func missing(r *Reader, t lockstep.Tick) error {
	s, err := r.scan(record.MaxTick)
	if len(s.marks) == 0 {
		return err
	}
	if t > s.last && err != nil {
		return err
	}
	if first := s.marks[0].tick; t < first || t > s.last {
		gap := &TickError{Tick: t, First: first, Last: s.last}
		if p, err := FindPanic(r); err == nil && p != nil && p.Tick == t {
			gap.Panic = p
		}
		return gap
	}
	return fmt.Errorf("replay: tick %d: %w", t, ErrNoGame)
}

// FindPanic returns the first panic of the rules that a file has, or nil. What cannot be read has none.
func FindPanic(r *Reader) (*Panic, error) {
	ahead, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	for rec, err := range ahead.All() {
		if err != nil {
			break
		}
		if rec.Kind == record.KindPanic {
			return NewPanic(rec), nil
		}
	}
	return nil, nil
}
