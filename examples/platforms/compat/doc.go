// Package compat lets clients of another engine play in matches of the game platforms. It speaks that engine's wire,
// and is a bridge: behind each connection stands an ordinary client of the match, in the same process. So seats, limits,
// checksums, keyframes and the replay are the engine's own, and nothing of its wire changes. docs/compat.md says how to
// serve it.
//
//	s.HandleOtherSockets(compat.New(s, compat.Options{Match: "match-1"}))
//
// The bridge adds what the engine does not have: the other engine's checksums, which it computes itself for each checked
// tick and compares with those of the clients.
//
// # The game
//
// Coordinates are thousandths of a cell, y up, of a box's centre; half of a size is rounded down. Entities have ascending
// numbers: 1 the floor, 2 and 3 platforms, 4 a teleport, 5 the net below, then players, then their units. Package platforms
// describes a tick. Tick t of that engine is our tick t + 1.
//
// The checksum is FNV-1a with 32 bits over the code points of a text, as eight digits. A number is "i:<decimal>;" and a
// text "s:<length>:<text>;". The text has:
//
//  1. the tick, and the highest ID plus 1;
//  2. for each entity by ID: the ID; for each of its components by name, the name; for each field by name, the name and
//     the value;
//  3. a value is the text int and the number, or the text str and the text. The list "inside" is a text such as "[4, 5]".
//
// # Messages
//
// A message is one MessagePack map in one binary WebSocket message, with texts as keys and integers of at most 53 bits.
// Other kinds and keys are ignored. From the client:
//
//   - auth: token; the first message, within 10 s.
//   - command: command, with type MOVE or JUMP, sequence, targets, and x for MOVE. The player is the connection's,
//     whatever the command says. x is clamped to -1 to 1. Targets are sorted, and the same one may be there twice.
//   - checksum: tick, checksum.
//   - state_sync_request.
//
// From the server, with the fields in this order:
//
//   - state_sync: current_tick, snapshot_tick, tick_rate, command_delay_ticks, checksum_interval_ticks, game_config,
//     snapshot, command_frames, player_id. The snapshot has next_entity_id and entities: maps of id and of components by
//     name, each a map of its fields. current_tick is the next frame's, snapshot_tick the same, and command_frames is
//     empty. player_id is the number of the player's entity, 0 for a watcher.
//   - command_frame: tick, commands, also if there are none. A command has type, issuer, sequence, targets, and x for
//     MOVE. Each frame comes once and in order, or a state_sync instead.
//   - command_accepted: sequence, assigned_tick; before the frame.
//   - desync_report: tick, checksums: players as texts by checksum. The bridge itself is "__server__". The first two
//     checksums of a tick that differ are told to everybody, once; those of watchers count for nothing.
//   - error: text, for people.
//
// # What the bridge refuses
//
// With error, and the client goes on: numbers beyond 53 bits, below 0, as text or as floats; a sequence that is not above
// all before on this connection; a JUMP of something that is no unit; no target, or more than 256; bytes that are no
// message, or nested more than 16 deep; commands of a spectator; more state_sync_request than two a second, four at once.
//
// Without an answer: checksums of ticks that are not checked, older than 32 checks or ahead; a ninth checksum of a tick.
//
// By closing: a message of more than 16 KiB (1009); more than 100 messages in a second, 200 at once (1008); another first
// message than auth; a client that does not read for 10 s, with 512 KiB waiting for it. More than 256 connections, or
// max-per-address of one address, get 503.
package compat
