// Package lockstep is the pure core of the engine: it orders the commands of a
// match, seals them into frames, applies the frames to a simulation, and
// compares the checksums of the states that result. It owns no socket, clock,
// goroutine or file.
//
// # One way through it
//
// A game author writes [Rules]: a state of plain data, a Step that advances it
// by one tick, and the types of its commands. [NewGame] compiles them into a
// [Game]. A [Coordinator] decides the order of a match's commands and writes the
// match's [Log]; each machine has a [Follower], which makes the states again
// from the log's records:
//
//	game := lockstep.MustGame(rules)
//	header, err := game.NewHeader(id, lockstep.DefaultSettings(2), &config)
//	follower := game.NewFollower(lockstep.FollowerOptions{})
//	c, err := lockstep.NewCoordinator(game, header, follower, lockstep.CoordinatorOptions{})
//
//	c.Join(0)
//	receipt := c.Submit(0, 1, kind, payload) // at any time
//	frame, err := c.Tick()                   // when a tick is due
//
// The log is all there is. A file of it is a replay; a late joiner gets the
// latest keyframe in it and what follows (see [Tail]).
//
// # The determinism contract
//
// Step, New, Derive and Validate compute from their arguments alone, the same on
// every machine. So a simulation has: integers only (no float), no iteration
// over a map that could reach the state, no goroutine, channel or select, no
// clock, no global randomness or other global variable, no pointer values, no
// int or uint in the state, no unstable sort without a total order. Package
// lockstep/locksteptest checks a game for what the compiler cannot see.
//
// # Who decides what
//
// Every command has a player, a sequence that its player counts from 1 upwards,
// and the tick that the coordinator gives it. Commands run in the order of
// (tick, player, sequence), whatever the order in which they arrived. The
// coordinator's rules for a submitted sequence s of a player:
//
//   - An answer is given once. Whoever submits s again gets the same receipt,
//     and an accepted command runs exactly once. The last 256 receipts are kept;
//     an s that was forgotten, or that is below a sealed one, is stale.
//   - s may be at most 256 above the highest one that was answered. What is
//     further ahead is refused without an answer to keep, and may come again.
//   - Gaps are allowed, and may be filled as long as they are not stale. A
//     player's commands run in the order of their sequences, also when they
//     arrive in another one or while the input delay changes: a command's tick
//     is now + input delay, but not before that of a lower sequence and not
//     after that of a higher one that wait already.
//   - A player who leaves has commanded up to the tick in which Left stands, and
//     one who joins commands from the tick after Joined on.
//
// # Records
//
// A record is one MessagePack array in its smallest form (package internal/pack
// has the rules), so that each record has one byte string. Its first value is
// its kind. The records of a log, in order: one header, one keyframe, and then
// any of the others, up to the end.
//
//	kind  record    values after the kind
//	1     header    protocol, engine, game, build, match id (16 bytes), platform,
//	                [seed, players, tick rate, check every, keyframe every],
//	                config, config schema, state schema (bytes),
//	                [kind, name, schema (bytes)] for each command, in one array
//	2     keyframe  tick, root, [player, last sequence] for each player in one array, state (bytes)
//	3     frame     player, sequence step, kind, payload (bytes) for each command
//	4     empty     ticks, 1 to 65,536
//	5     checksum  ticks ago, root
//	6     dissent   ticks ago, player, root
//	7     end       why (text)
//	64    note      bytes of an array: player, topic, text
//
// Why it is so:
//
//   - A frame has no tick, and no count of commands: it is the tick after the one
//     before it, and the array's length tells the rest. An empty tick costs 3
//     bytes, and less in a run.
//   - A sequence is written as the step from the player's sequence before it in
//     the log, at least 1: mostly the number 1, in one byte. A keyframe has the
//     last sequences, so that a reader can begin there.
//   - Commands stand in canonical order, and a reader refuses another: one tick
//     has one byte string.
//   - System, who issues joins, leaves and pauses, is player 255, and so runs
//     last in a tick. Its kinds are its own: 1 joined, 2 left, 3 lost, 4 taken
//     over, 5 paused, 6 resumed ([player] each), 7 speed set ([percent], 10 to
//     1000), 8 input delay set ([ticks], 1 to 250).
//   - The tick of a checksum is counted back from the last frame: a small number.
//   - Kinds below 64 are critical: who does not know one cannot go on. Those from
//     64 on are always [kind, bytes], so that they can be passed over by anyone.
//     What is in them never reaches a simulation.
//   - A later keyframe may be left out or added without changing the match, and
//     runs of empty ticks may be joined.
//
// The payload of a command is the MessagePack form of its type: a struct is an
// array of its fields, a slice or an array of bytes is bin, and any other one an
// array. The state in a keyframe and the configuration are canonical bytes of
// package state.
//
//samestep:deterministic
package lockstep
