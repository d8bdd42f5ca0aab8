// Package lockstep is what a game is written against, and what every machine runs: rules, turns, simulations, and
// followers of a match's log. It owns no socket, clock, goroutine or file.
//
// # One way through it
//
// A game author writes [Rules]: a state of plain data, a Step that advances it by one tick, and the types of its
// commands. [NewGame] compiles them into a [Game]. A [coordinator.Coordinator] decides the order of a match's commands
// and writes the match's [Log]; each machine has a [Follower], which makes the states again from the log's records:
//
//	game := lockstep.MustGame(rules)
//	header, err := game.NewHeader(id, lockstep.DefaultSettings(2), &config)
//	follower := game.NewFollower(lockstep.FollowerOptions{})
//	c, err := coordinator.New(game, header, follower, coordinator.Options{})
//
//	c.Join(0)
//	receipt := c.Submit(0, 1, kind, payload) // at any time
//	frame, err := c.Tick()                   // when a tick is due
//
// The log is all there is. A file of it is a replay; a late joiner gets the latest keyframe in it and what follows (see
// [record.Tail]).
//
// # The determinism contract
//
// Step, New, Derive and Validate compute from their arguments alone, the same on every machine. So a simulation has:
// integers only (no float), no iteration over a map that could reach the state, no goroutine, channel or select, no
// clock, no global randomness or other global variable, no pointer values, no int or uint in the state, no unstable
// sort without a total order. Package lockstep/locksteptest checks a game for what the compiler cannot see.
//
// # The packages of a match
//
//	record       the log: its records, their bytes, and the values in them
//	coordinator  orders commands, seals ticks and compares checksums
//	protocol     the messages between a host and a player
//	host         a live match on the server's side: connections, seats, sync, limits
//	player       a live match on the player's side: pacing, prediction, reconnecting
//
// All of them are as pure as this one: bytes and the time go in, bytes and events come out. Sockets and clocks are in
// packages server and client.
//
//samestep:deterministic
package lockstep
