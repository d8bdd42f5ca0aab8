// Package record is the log of a match: its records, their bytes, and the values in them, such as ticks, players and
// commands. An [Encoder] writes records. A [Decoder] reads them and compares their contents with the log's own header.
// [All] walks a log, and [Record.Frames] the ticks of a record.
//
// docs/spec/replay.md has the bytes of the records. Some of their reasons:
//
//   - A frame has no tick and no count of commands: it is the next tick, and the array's length tells the count. An
//     empty tick takes 3 bytes, and less in a run.
//   - A sequence is the step from the player's sequence before it in the log: mostly the number 1, in one byte. The tick of
//     a checksum is counted back from the last frame.
//   - Commands are in canonical order, and a reader refuses any other: one tick has one byte string.
//   - [System] is player 255 and so runs last in a tick. It has kinds of its own.
//   - Kinds below 64 are critical: a reader that does not know one must stop. Kinds from 64 on are always [kind,
//     bytes], so any reader can skip them. Their content never reaches a simulation.
//
//samestep:deterministic
package record
