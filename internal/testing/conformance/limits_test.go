package conformance

import (
	"bytes"
	"encoding/binary"
)

// largeFiles are small files with segments that are too large. Other builders have the
// cases of other limits.
func largeFiles() []Built {
	begin := join(newMatch(setup{}).records)
	zeros := func(n int) piece { return piece{zeros: n} }
	head := func(n int) piece {
		return piece{bytes: binary.BigEndian.AppendUint32([]byte{0x92, 0xcc, 200, 0xc6}, uint32(n))}
	}
	filler := piece{bytes: recordBytes(200, bytes.Repeat([]byte("x"), 10_000))} // keeps F-segment-limit
	first, end := piece{bytes: begin}, piece{bytes: recordBytes(7, "over")}
	block := pieces{first, filler, head(4 << 20), zeros(4 << 20), head(4 << 20), zeros(4 << 20), end}
	large := pieces{first, filler, head(7 << 20), zeros(7 << 20), end}
	sum := newFile().batch(newMatch(setup{}).records...)
	for range 420 {
		sum.segment(pieces{head(90_000), zeros(90_000)}.segment())
	}
	unknown := newFile().batch(standard().records...).block(65, append([]byte{9}, make([]byte, 64<<10)...))
	return []Built{
		replayCase("segment-large", "limit", "A segment has more than 8 MiB of records, and no large state.", newFile().segment(block.segment()).b, "F-limits-block"),
		replayCase("record-large", "limit", "A record has more than 7 MiB.", newFile().segment(large.segment()).b, "F-limits-record"),
		replayCase("segments-sum", "limit", "All segments together have more records than a file of this size may have.", sum.batch(end.bytes).b, "F-limits-segments"),
		replayCase("signature-large", "limit", "A signature of an unknown kind has a byte more than 64 KiB.", unknown.b, "F-limits-signature"),
	}
}

// A piece of records is bytes, or else zeros.
type piece struct {
	bytes []byte
	zeros int
}

type pieces []piece

// segment returns a segment without ticks, whose zeros take four bytes for each
// 64 KiB.
func (all pieces) segment() segment {
	var records []byte
	for _, p := range all {
		records = append(append(records, p.bytes...), make([]byte, p.zeros)...)
	}
	data := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, uint32(len(records)))
	for _, p := range all {
		if p.zeros == 0 {
			data = append(appendRawBlock(data, len(p.bytes), false), p.bytes...)
		}
		for left := p.zeros; left > 0; left -= 1 << 16 {
			data = append(appendRawBlock(data, min(left, 1<<16), false), 0)
			data[len(data)-4] |= 2 // a block of one byte, repeated
		}
	}
	return segment{records: records, data: appendRawBlock(data, 0, true)}
}
