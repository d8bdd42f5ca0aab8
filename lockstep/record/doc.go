// Package record is the log of a match: its records, their bytes, and the values in them, such as ticks, players and
// commands. An [Encoder] writes records. A [Decoder] reads them and compares their contents with the log's own header.
// [All] walks a log, and [Record.Frames] the ticks of a record.
//
// # Records
//
// A record is one MessagePack array in its smallest form (package internal/pack has the rules), so each record has one
// byte string. Its first value is its kind. A log has one header, one keyframe, then any other records, and at last the
// end.
//
//	kind  record    values after the kind
//	1     header    protocol, engine, game, build, match id (16 bytes), platform,
//	                [seed, players, tick rate, check every, keyframe every],
//	                config, config schema, state schema (bytes),
//	                [kind, name, schema (bytes)] for each command, in one array
//	2     keyframe  tick, hash, [player, last sequence] for each player in one array, state (bytes)
//	3     frame     player, sequence step, kind, payload (bytes) for each command
//	4     empty     ticks, 1 to 65,536
//	5     checksum  ticks ago, hash
//	6     mismatch  ticks ago, player, hash
//	7     end       why (text); and the result (bytes) if the rules ended the match
//	64    note      bytes of an array: player, topic, text
//	65    foreign   bytes: a line of an imported match, see docs/spec/recordings.md
//	66    panic     bytes of an array: where, what, stack, and player, sequence, kind, payload (bytes) for each command of the
//	                tick that the rules did not compute
//	67    event     bytes of an array: player, name, text; see [EventTypes]
//
// A match whose rules have a result, or whose ticks have a period in milliseconds, has a longer header: protocol 2, the
// settings followed by [tick ms, relay], and the result's schema (bytes) after the commands.
//
// Reasons:
//
//   - A frame has no tick and no count of commands: it is the next tick, and the array's length tells the count. An
//     empty tick takes 3 bytes, and less in a run.
//   - A sequence is the step from the player's sequence before it in the log, at least 1: mostly the number 1, in one
//     byte. A keyframe has the last sequences, so a reader can begin there.
//   - Commands are in canonical order, and a reader refuses any other: one tick has one byte string.
//   - System, which issues joins, leaves and pauses, is player 255 and so runs last in a tick. It has its own kinds: 1
//     joined, 2 left, 3 lost, 4 taken over, 5 paused, 6 resumed ([player] each), 7 speed set ([percent], 10 to 1000),
//     8 input delay set ([ticks], 1 to 250).
//   - The tick of a checksum is counted back from the last frame: a small number.
//   - Kinds below 64 are critical: a reader that does not know one must stop. Kinds from 64 on are always [kind,
//     bytes], so any reader can skip them. Their content never reaches a simulation.
//   - Later keyframes can be added or removed, and runs of empty ticks joined, without changing the match.
//
// The payload of a command, the state in a keyframe, the configuration and the result are canonical bytes of package state.
//
//samestep:deterministic
package record
