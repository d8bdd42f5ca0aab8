package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// brokenSegments are sealed files of which one segment is wrong.
func brokenSegments() []Built {
	before, after := standard().split()
	first, rest := join(before), join(after)
	one := func(s segment) []byte {
		if s.records == nil {
			s.records = first
		}
		return newFile().segment(s).segment(segment{first: 10, ticks: 2, records: rest}).b
	}
	two := func(s segment) []byte {
		s.records = rest
		return newFile().segment(segment{ticks: 10, records: first}).segment(s).b
	}
	quiet := newMatch(setup{})
	zeros := bytes.Repeat(recordBytes(4, 1), 40<<10)
	ratio := newFile().batch(quiet.records...).segment(segment{ticks: 40 << 10, records: zeros, data: runFrame}).batch(recordBytes(7, "over")).b
	return []Built{
		replayCase("segment-ticks", "invalid", "A segment claims a tick more than it has.", one(segment{ticks: 11}), "F-segment-ticks"),
		replayCase("segment-first", "invalid", "A segment claims to go on after another tick.", two(segment{first: 9, ticks: 2}), "F-segment-first"),
		replayCase("segment-first-keyframe", "invalid", "The first segment does not begin at the tick of its keyframe.", one(segment{first: 1, ticks: 9}), "F-segment-first"),
		replayCase("segment-long-number", "corrupt", "A number of a segment is written with a byte too many.", two(segment{lead: []byte{0x8a, 0}, ticks: 2}), "F-uvarint"),
		replayCase("segment-huge-number", "corrupt", "A number of a segment is 2^64.", two(segment{lead: varintBeyond, ticks: 2}), "F-segment"),
		replayCase("segment-length-short", "corrupt", "A segment has more records than its length says.", one(segment{ticks: 10, length: uint64(len(first) - 1)}), "F-segment-length"),
		replayCase("segment-length-long", "corrupt", "A segment has fewer records than its length says.", one(segment{ticks: 10, length: uint64(len(first) + 1)}), "F-segment-length"),
		replayCase("segment-length-zero", "corrupt", "A segment claims to be empty.", newFile().block(2, append([]byte{0, 10, 0}, make([]byte, 8)...)).b, "F-segment-length"),
		replayCase("segment-limit", "limit", "A segment claims more than 264 MiB of records.", one(segment{ticks: 10, length: 264<<20 + 1}), "F-segment-limit"),
		replayCase("segment-ratio", "limit", "A segment claims more records than its bytes can be worth.", ratio, "F-segment-limit"),
		replayCase("segment-sum", "corrupt", "The sum of a segment's records is wrong.", one(segment{ticks: 10, sum: xxhash.Sum64(first) ^ 1}), "F-segment-sum"),
		replayCase("segment-no-frame", "corrupt", "The data of a segment is no zstd frame.", one(segment{ticks: 10, data: []byte("not a frame")}), "F-segment-frame"),
		replayCase("segment-two-frames", "corrupt", "A segment has its records in two zstd frames.",
			one(segment{ticks: 10, data: slices.Concat(frame(first[:50]), frame(first[50:]))}), "F-segment-frame"),
		replayCase("segment-skippable", "corrupt", "A skippable frame stands before the records of a segment.",
			one(segment{ticks: 10, data: slices.Concat(skippable, frame(first))}), "F-segment-frame"),
		replayCase("segment-skippable-after", "corrupt", "A skippable frame stands after the records of a segment.",
			one(segment{ticks: 10, data: slices.Concat(frame(first), skippable)}), "F-segment-frame"),
		replayCase("segment-trailing", "corrupt", "A byte stands after the frame of a segment.", one(segment{ticks: 10, data: append(frame(first), 0)}), "F-segment-frame"),
		replayCase("segment-cut-frame", "corrupt", "The frame of a segment ends too early.", one(segment{ticks: 10, data: frame(first)[:40]}), "F-segment-frame"),
		replayCase("segment-dictionary", "corrupt", "The frame of a segment names a dictionary.",
			one(segment{ticks: 10, data: slices.Concat([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x61, 7}, frame(first)[5:])}), "F-segment-frame"),
		replayCase("segment-window", "corrupt", "The frame of a segment has a window of more than 16 MiB.",
			one(segment{ticks: 10, data: slices.Concat([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x40, 14<<3 | 1}, frame(first)[5:])}), "F-segment-frame"),
		replayCase("segment-cut-record", "corrupt", "A record reaches beyond its segment.", cutSegment(), "F-batch"),
		replayCase("schemas-limit", "limit", "The schemas of a header have more than 512 KiB together.", largeSchema(), "F-header-schemas-size"),
		replayCase("segment-short", "corrupt", "A segment ends inside its head.", newFile().block(2, []byte{0, 10, 5, 1, 2}).b, "F-segment"),
		replayCase("segment-compressed", "ok", "A frame as a compressor writes it, with a match and a literal.", compressedFile(), "F-segment-frame"),
	}
}

// largeSchema returns a file whose header has a schema of 512 KiB of zeros, so that the
// other schemas exceed the limit. Each block of its zstd frame repeats 64 KiB of zeros.
func largeSchema() []byte {
	const size = 512 << 10
	m := newMatch(setup{configSchema: make([]byte, size)}).note(0, "chat", strings.Repeat("x", 300)).end()
	records := join(m.records)
	from := bytes.Index(records, make([]byte, size))
	data := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, uint32(len(records)))
	data = append(appendRawBlock(data, from, false), records[:from]...)
	for range size >> 16 {
		data = append(appendRawBlock(data, 1<<16, false), 0)
		data[len(data)-4] |= 2 // a block of one byte, repeated
	}
	data = append(appendRawBlock(data, len(records)-from-size, true), records[from+size:]...)
	return newFile().segment(segment{records: records, data: data}).b
}

// skippable is a zstd skippable frame with two bytes.
var skippable = []byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2}

// cutSegment returns a file with a record in two segments.
func cutSegment() []byte {
	all := join(standard().records)
	k := len(all) - 2
	return newFile().segment(segment{ticks: 12, records: all[:k]}).segment(segment{first: 12, records: all[k:]}).b
}

// runFrame is a zstd frame of 40,960 records of one empty tick. The command zstd -19
// wrote it: 19 bytes for 120 KiB.
var runFrame = unhex("28b52ffd00685d0000189204010100fadfe66e08")

// compressedFile returns the standard match with a segment that the command zstd -19
// compressed.
func compressedFile() []byte {
	before, after := standard().split()
	return newFile().segment(segment{ticks: 10, records: join(before), data: unhex(compressed)}).batch(after...).b
}

const compressed = "28b52ffd0068250800024d322e50770e98709fba18c7be328338fbed059b231c68ba6e01c744b4ecdd21fd2f19a2b0a2df16ca8c677790955ba61410" +
	"604cd6132b14118f40bb8f0ff66a20702e929ef1c1dfc5235433eefbefe2ddff1e9e5455b23ad3acb29c34d891d1fbefffa02d3c99f7b045ba36179a" +
	"f15c399cdf926fd6739289dd66bdbaa169e6d59b589d2d82f464758b19018eb58aae1382de942819c023b9d94e663122f6f782bb5fc57677136f9a40" +
	"bcd46ef74d291cde5f9ca59a0dfba14a3b6b465dcbd6c3c139597da659bffe51011920800c19f1e558310c3db542add3e3f680cd2e8025dcd26d9dcb" +
	"0b2533dfa8831426b8fc3246b6a814e59a4cd4c68304f78ee3e9cc8f01"

func unhex(digits string) []byte {
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err) // the digits are constants
	}
	return b
}
