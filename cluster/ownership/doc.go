// Package ownership says who may write the replicated log of a match. It has no clock, socket or goroutine.
//
// The log is a sequence of messages in a store that orders them, where each append names the sequence of the last message that
// it expects. The store refuses an append that expects another one. That alone makes a log have one writer:
//
//   - A server that wants a match reads its log to the end, and appends a claim. Each claim has a term one higher
//     than the one before. From then on every append of the owner before it is refused, because it expects an older end.
//   - An [Owner] has at most one append on its way. If it does not learn what became of it, it reads the last message: the
//     append was stored if that is the last message. If the end has not moved, it repeats the same bytes, because the first
//     try may still arrive. If another message is there, the owner has lost the log, and never appends again.
//   - A message has the records of whole Appends. Records that are too large for it are in several: all but the last one are parts, and
//     readers drop parts that a claim follows. So they count as stored with the last one.
//   - A log is removed when its match is over. An owner that finds none gives up.
//   - [Leases] say which server should take a match. They can be wrong at any time, and then cost a takeover, never a record.
//
// The tests explore all orders of events of two and three servers over a model of the store (TestExplore).
//
// A message:
//
//	offset  size  field
//	0       1     format, 1
//	1       1     kind: 1 claim, 2 records, 3 part of records that the next message continues
//	2       4     term of the owner, little endian
//	6       8     check, little endian: xxHash64 of the check of the message before (0 for the first), the bytes 0 to 5, and the body
//	14            body: the server's name in a claim; otherwise records as in docs/spec/replay.md, one after the other
//
// The check chains the messages, so a missing, repeated or altered message is noticed, and it identifies a message.
//
//samestep:deterministic
package ownership
