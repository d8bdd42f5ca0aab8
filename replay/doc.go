// Package replay keeps the log of a match in a file. It writes the file while the match runs, reads it, and verifies it
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
// Package desync compares replays of one match, and decides who was wrong where a verification finds a difference.
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
// block is valid in one place of one match's file only, and a stale or spliced tail is detected. Every check is right
// before the next block, so a reader can validate that block even if the one before it is damaged.
//
// The body of a batch is whole records, as the players got them, one after the other. They have no lengths of their own,
// because MessagePack says where each ends, and eight bytes for each record would be more than the record. The writer
// only joins runs of empty ticks: for three records of one empty tick the file has one of three. The first batch begins
// with the header record, and the last ends with the end record. After it come only blocks of kinds from 64 on,
// which may also stand earlier. A reader refuses unknown kinds of blocks below 64 and skips those from 64 on.
//
// The body of a segment is the compressed records of a batch. It begins with a keyframe if the match has one at least
// every MiB of records, so a reader can begin there. All numbers except the sum are base 128, like the length of a
// block.
//
//	first   the tick of the last frame before it; for the first segment that of its keyframe
//	ticks   how many ticks it has
//	length  of its records in bytes, at most 64 KiB + 1000 times the compressed bytes
//	sum     u64: xxHash64 of its records
//	data    the records as exactly one zstd frame, to the end of the body
//
// Segments are written when the match is over ([Seal]): compressed second by second they would be a quarter larger, and
// the tail of a live file must be readable at once. The bytes of a segment also depend on the version of the
// compressor; its records do not.
//
// A file may have one index. It is the last block, after the end record, and lists keyframes where a reader can begin.
// All numbers except the last are base 128, and each tick and offset is the difference to the one before.
//
//	count   of keyframes, at least 1; then for each
//	tick    of its state; the difference is at least 1 after the first
//	offset  of its block in the file
//	at      where it begins in the block's records
//	…
//	self    u64: the offset of the index, so that it is found from the file's last 16 bytes
//
// No reader needs it: without an index, or if an entry is wrong, reading the whole file finds the keyframes too. A
// reader that has read the whole file refuses an entry that names no keyframe, with [ErrInvalid].
//
// Signatures may stand between the end record and the index, one of each key: u8 1, for Ed25519; the public key, 32
// bytes; the signature, 64 bytes, of "samestep replay 1\n", the match's id and the [ContentHash] of the whole match. A
// signature of another kind is not checked, and tools say so.
//
// # Limits
//
// The body of a block and the records in it have at most 8 MiB each, besides the state of one keyframe. docs/limits.md
// has all limits with their reasons. A reader refuses a file that exceeds one, with [ErrLimit]; a [Writer] keeps them.
//
// # Crashes
//
// The writer writes a batch every FlushTicks of the [WriterOptions]: the crash of a process loses no more than that.
// The [Durability] decides what the crash of a machine loses. A failed sync is never repeated, as the operating system
// may report success for data that it has dropped. The match stops instead, and also when the disk is full. After
// [Writer.WriteBehind] a disk that is full or does not answer makes no error; the caller stops the match meanwhile, and the
// crash of a process also loses the backlog. After a crash the file ends in a torn block or without an end record. A Reader returns
// everything before that, then a [*DamageError] that wraps [io.ErrUnexpectedEOF]. If valid blocks follow the damage, it
// wraps [ErrCorrupt].
package replay
