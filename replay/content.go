package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A ContentHash is the SHA-256 of a match's content. It depends neither on the recorder nor on the file's compression,
// blocks and keyframes: docs/spec/replay.md lists what it has. Ticks without commands, later keyframes, notes and events do not
// count. If the match has not ended, nor do the records after the last tick, since a torn file may lack them.
type ContentHash [sha256.Size]byte

// String returns the hash in hexadecimal digits.
func (h ContentHash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns what String does.
func (h ContentHash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// HashContent returns the content hash of a match up to a tick, or up to the match's last tick if that comes first, and
// that tick. The hash covers everything up to the tick's frame, so it is the same for recordings of different lengths,
// whether they continue, end with another text, or are torn. Checksums of the tick come after its frame and do not
// count. With [WholeMatch] the end counts, and the file must be whole.
//
// The error is a [*TickError] if the match begins after the tick.
func HashContent(r *Reader, tick lockstep.Tick) (ContentHash, lockstep.Tick, error) {
	first, err := r.Reopen()
	if err != nil {
		return ContentHash{}, 0, err
	}
	c := newContent()
	for rec, err := range first.All() {
		if err != nil && c.began && c.tick == tick {
			break // torn or damaged after the tick
		}
		if err != nil {
			return ContentHash{}, c.tick, err
		}
		if rec.Kind == record.KindKeyframe && !c.began && rec.Tick > tick {
			return ContentHash{}, rec.Tick, missing(first, tick)
		}
		if rec.Kind == record.KindEnd && tick != WholeMatch {
			break
		}
		if rec.Ticks() > 0 && rec.Tick > tick {
			if c.tick < tick { // a run leads beyond it
				c.reach(tick)
			}
			break
		}
		c.add(rec)
	}
	return c.sum(), c.tick, nil
}

// A PartHash is a result of [HashContent].
type PartHash struct {
	Tick        lockstep.Tick `json:"tick"`
	ContentHash ContentHash   `json:"content_hash"`
}

// WholeMatch makes HashContent hash the whole match.
const WholeMatch lockstep.Tick = math.MaxUint32

// A content computes a content hash.
type content struct {
	hash  hash.Hash
	buf   []byte
	ahead hash.Hash // also of the records after the last tick; nil if there are none
	tick  lockstep.Tick
	began bool
}

func newContent() *content { return &content{hash: sha256.New()} }

// reach takes a tick. From now on the records before it count.
func (c *content) reach(t lockstep.Tick) {
	if c.ahead != nil {
		c.hash, c.ahead = c.ahead, nil
	}
	c.tick = t
}

// later takes a record after the last tick. It goes to a copy of the hash, since it counts only if another tick
// follows. There may be any number of such records.
func (c *content) later(item []byte) {
	if c.ahead == nil {
		ahead, err := c.hash.(hash.Cloner).Clone()
		if err != nil {
			panic(err) // sha256 has no error to give
		}
		c.ahead = ahead
	}
	c.ahead.Write(item)
	c.buf = item
}

func (c *content) add(r *record.Record) {
	le := binary.LittleEndian
	if r.Ticks() > 0 {
		c.reach(r.Tick)
	}
	if len(r.Frame.Commands) > 0 {
		c.frame(&r.Frame)
	}
	switch r.Kind {
	case record.KindHeader:
		h := *r.Header
		h.Platform, h.Sources = "", ""
		var enc record.Encoder
		c.write(1, enc.Header(&h))
	case record.KindKeyframe:
		if c.began {
			return
		}
		c.began, c.tick = true, r.Tick
		b := le.AppendUint32(append(c.buf[:0], 2), uint32(r.Tick))
		b = le.AppendUint64(b, r.Keyframe.Hash)
		b = le.AppendUint32(b, uint32(len(r.Keyframe.Last)))
		for _, l := range r.Keyframe.Last {
			b = le.AppendUint32(append(b, byte(l.Player)), uint32(l.Sequence))
		}
		c.buf = le.AppendUint32(b, uint32(len(r.Keyframe.State)))
		c.hash.Write(c.buf)
		c.hash.Write(r.Keyframe.State)
	case record.KindChecksum:
		c.later(le.AppendUint64(le.AppendUint32(append(c.buf[:0], 5), uint32(r.Tick)), r.Hash))
	case record.KindMismatch:
		c.later(le.AppendUint64(append(le.AppendUint32(append(c.buf[:0], 6), uint32(r.Tick)), byte(r.Player)), r.Hash))
	case record.KindEnd:
		c.reach(c.tick)
		c.write(7, []byte(r.Text))
		if r.ByRules {
			c.write(8, r.Result)
		}
	}
}

func (c *content) frame(f *lockstep.Frame) {
	le := binary.LittleEndian
	b := le.AppendUint32(append(c.buf[:0], 3), uint32(f.Tick))
	b = le.AppendUint32(b, uint32(len(f.Commands)))
	for i := range f.Commands {
		m := &f.Commands[i]
		b = le.AppendUint32(append(b, byte(m.Player)), uint32(m.Sequence))
		b = le.AppendUint16(b, uint16(m.Kind))
		b = append(le.AppendUint32(b, uint32(len(m.Payload))), m.Payload...)
	}
	c.buf = b
	c.hash.Write(b)
}

func (c *content) write(tag byte, b []byte) {
	c.buf = binary.LittleEndian.AppendUint32(append(c.buf[:0], tag), uint32(len(b)))
	c.hash.Write(c.buf)
	c.hash.Write(b)
}

// sum returns the hash up to the last tick. The content takes no more records after it.
func (c *content) sum() (h ContentHash) {
	c.hash.Write(binary.LittleEndian.AppendUint32([]byte{0}, uint32(c.tick)))
	c.hash.Sum(h[:0])
	return h
}
