package conformance

import (
	"encoding/binary"
	"slices"
)

// brokenContainers are files whose prefix or blocks are wrong.
func brokenContainers() []Built {
	whole := standard().file()
	batched := batches(standard()).b
	change := func(b []byte, at int, to byte) []byte {
		b = slices.Clone(b)
		b[at] = to
		return b
	}
	offset := len(newFile().batch(standard().records[0]).b) // of the second batch
	swapped := standard().records
	stale := slices.Concat(newFile().batch(swapped[0]).b, standard().file()[32:])
	cases := []Built{
		replayCase("prefix-magic", "corrupt", "The magic has another byte.", change(whole, 0, 'X'), "F-prefix"),
		replayCase("prefix-short", "torn", "The file ends inside the prefix.", whole[:20], "F-prefix", "F-torn"),
		replayCase("prefix-magic-short", "corrupt", "A file of 20 bytes has another magic.", change(whole, 0, 'X')[:20], "F-prefix"),
		replayCase("prefix-empty", "torn", "The file is empty.", nil, "F-torn"),
		replayCase("prefix-version", "unsupported", "The version is 2.", fileOf("\x89SSR\r\n\x1a\n", 2, 0).batch(standard().records...).b, "F-version"),
		replayCase("prefix-flags", "unsupported", "A flag is set.", fileOf("\x89SSR\r\n\x1a\n", 1, 1).batch(standard().records...).b, "F-flags"),
		replayCase("prefix-version-short", "unsupported", "A file of 12 bytes has the version 2.", fileOf("\x89SSR\r\n\x1a\n", 2, 0).b[:12], "F-version"),
		replayCase("prefix-flags-short", "unsupported", "A file of 16 bytes has a flag.", fileOf("\x89SSR\r\n\x1a\n", 1, 1).b[:16], "F-flags"),
		replayCase("prefix-match", "invalid", "The header record has another match's id.",
			newFile().batch(newMatch(setup{id: "another match id"}).end().records...).b, "F-match"),
		replayCase("no-blocks", "torn", "There is nothing but the prefix.", newFile().b, "F-torn"),
		replayCase("no-end", "torn", "The file ends after a whole block, and has no end record.", batched[:len(batches(withoutEnd()).b)], "F-torn", "F-end"),
		replayCase("torn-check", "torn", "The last byte is missing.", whole[:len(whole)-1], "F-torn"),
		replayCase("torn-length", "torn", "The file ends inside the length of a block.", append(newFile().b, 1, 0x80), "F-torn"),
		replayCase("torn-head", "torn", "The file ends after the kind of a block.", batched[:offset+1], "F-torn"),
		replayCase("check-last", "corrupt", "The check of the last block is wrong.", change(whole, len(whole)-1, whole[len(whole)-1]^1), "F-chain"),
		replayCase("check-inside", "corrupt", "A byte inside a block is changed, and good blocks follow.", change(batched, offset+5, batched[offset+5]^1), "F-chain", "F-damage"),
		replayCase("check-stale", "corrupt", "A block stands behind one that it was not written after.", stale, "F-chain"),
		replayCase("check-first", "corrupt", "The prefix has another id, to which the first check does not fit.", change(whole, 20, 'X'), "F-chain"),
		replayCase("length-damaged", "corrupt", "A length reaches beyond the file, but good blocks follow.", change(batched, offset+1, 0xff), "F-damage"),
		replayCase("length-long-form", "corrupt", "A length is written with a byte too many.",
			newFile().lengthBlock(1, longForm(len(join(standard().records))), join(standard().records)).b, "F-uvarint"),
		replayCase("length-too-long", "corrupt", "A length has more than five bytes.",
			newFile().lengthBlock(1, []byte{0x81, 0x80, 0x80, 0x80, 0x80, 0x01}, []byte{1}).b, "F-block"),
		replayCase("length-huge", "corrupt", "A length of 2^64.", newFile().lengthBlock(1, varintBeyond, []byte{1}).b, "F-block"),
		replayCase("block-kind-0", "unsupported", "A block has the kind 0.", newFile().block(0, []byte{1}).batch(standard().records...).b, "F-block-kind"),
		replayCase("block-kind-63", "unsupported", "A block has an unknown kind below 64.", newFile().block(63, nil).batch(standard().records...).b, "F-block-kind"),
		replayCase("batch-empty", "invalid", "A batch has no records.", newFile().batch().batch(standard().records...).b, "F-batch"),
		replayCase("batch-cut-record", "corrupt", "A record reaches beyond its batch.", cutRecord().b, "F-batch"),
		replayCase("batch-after-end", "invalid", "A batch stands after the end record.", newFile().batch(standard().records...).batch(recordBytes(4, 1)).b, "F-blocks"),
		replayCase("segment-after-end", "invalid", "A segment stands after the end record.",
			sealed().segment(segment{first: 12, ticks: 1, records: recordBytes(4, 1)}).b, "F-blocks"),
		replayCase("record-after-end", "invalid", "A record stands after the end record in its batch.", standard().empty(1).file(), "F-order"),
	}
	return cases
}

// varintBeyond is 2^64, which no u64 can have.
var varintBeyond = []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02}

// withoutEnd returns the standard match without its end record.
func withoutEnd() *match {
	m := standard()
	m.records = m.records[:len(m.records)-1]
	return m
}

// longForm returns a uvarint with a byte that it does not need.
func longForm(n int) []byte {
	b := binary.AppendUvarint(nil, uint64(n))
	b[len(b)-1] |= 0x80
	return append(b, 0)
}

// cutRecord returns a file with a record in two batches.
func cutRecord() *file {
	all := join(standard().records)
	return newFile().block(1, all[:len(all)-2]).block(1, all[len(all)-2:])
}
