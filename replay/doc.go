// Package replay keeps the log of a match in a file: it writes it while the match runs, reads it back, and verifies it
// by simulating the match again.
//
//	w := replay.NewWriter(file, replay.WriterOptions{})
//	c, err := coordinator.New(game, header, w, coordinator.Options{})
//	// … play …
//	err = w.Close()
//
//	r, err := replay.NewReader(file, size)
//	found, err := replay.Verify(r, game, replay.VerifyOptions{})
//
// Package desync compares two replays of one match, and judges who was wrong where a verification finds a difference.
//
// # The format
//
// A replay file is a prefix and then blocks, to the end of the file.
//
//	offset  size  field    meaning
//	0       8     magic    89 53 53 52 0D 0A 1A 0A
//	8       4     version  u32, 1
//	12      4     flags    u32, 0; a reader refuses flags that it does not know
//	16      16    match    the match's id
//
// A block:
//
//	size  field   meaning
//	1     kind    1: a batch of records; 2: a segment; 64: an index; 65: a signature
//	1–5   length  of the body in bytes: base 128, low digits first, the high bit set on all but the last byte
//	…     body
//	8     check   u64: xxHash64 of the check before, the kind, the length and the body
//
// All integers are little-endian. The check before the first block is the xxHash64 of the 32 bytes of the prefix. So a
// block is valid in one place of one match's file only: a stale or spliced tail is not taken for a valid one. As every
// check stands right before the next block, that block can be told to be valid even where the one before it is damaged.
//
// The body of a batch is whole records of package lockstep, as they were sent to the players, one after the other; they
// are not framed one by one, because MessagePack says where each ends, and eight bytes on each record would cost more
// than the record. The writer only joins runs of empty ticks: where players were sent three records of one empty tick,
// the file holds one of three. The first batch begins with the header record, and the last ends with the end record;
// after it only blocks from 64 on may stand. A reader refuses kinds of blocks that it does not know below 64 and passes
// over those from 64 on.
//
// The body of a segment is compressed records, which a batch could hold as they are. It begins with a keyframe where
// the match has one at least every MiB of records, so that a reader can begin there. All numbers but the sum are base
// 128, as the length of a block.
//
//	first   the tick of the last frame before it; for the first segment that of its keyframe
//	ticks   how many ticks it has
//	length  of its records in bytes, at most 64 KiB + 1000 times the compressed bytes
//	sum     u64: xxHash64 of its records
//	data    the records as exactly one zstd frame, to the end of the body
//
// Segments are written when the match is over ([Seal]): what is compressed second by second is a quarter larger, and
// the tail of a live file must be readable as it is. Which bytes a segment has depends on the version of the compressor
// too; what is in it does not.
//
// A file may have one index, which is the last block, after the end record. It lists keyframes that a reader can begin
// at. All numbers but the last are base 128, and each tick and offset is the difference to the one before.
//
//	count   of keyframes, at least 1; then for each
//	tick    of its state; the difference is at least 1 after the first
//	offset  of its block in the file
//	at      where it begins in the block's records
//	…
//	self    u64: the offset of the index, so that it is found from the file's last 16 bytes
//
// Nothing depends on it: where there is none, or an entry is wrong, reading the whole file finds the keyframes too. A
// reader that comes to the index after it has read the whole file refuses an entry that names no keyframe, with
// [ErrInvalid].
//
// Signatures may stand between the end record and the index, one of each key: u8 1, for Ed25519; the public key, 32
// bytes; the signature, 64 bytes, of "samestep replay 1\n", the match's id and the [ContentHash] of the whole match. A
// signature of another kind is not checked, and tools say so.
//
// # Limits
//
// The body of a block and the records in it have at most 8 MiB each, besides the state of one keyframe. docs/limits.md
// has all limits with their reasons. What exceeds one is refused with [ErrLimit]; a [Writer] keeps them.
//
// # What is lost in a crash
//
// A batch is written every FlushTicks of the [WriterOptions]: the crash of a process loses no more than that. What the
// crash of a machine loses, the [Durability] says. A sync that failed is never tried again, as the operating system may
// report success for what it has dropped; the match stops instead, and so it does when the disk is full, unless it is
// to wait for room. A file that a crash cut short ends in a torn block or without an end record; a Reader returns
// everything before that, then a [*DamageError] that wraps [io.ErrUnexpectedEOF]. Damage that has valid blocks after it
// is another matter: that error wraps [ErrCorrupt].
package replay
