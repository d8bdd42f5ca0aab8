// Package lockstep is the package that games use and every machine runs: rules, turns, simulations, and followers of a
// match's log. It has no socket, clock, goroutine or file.
//
// # Overview
//
// A game author writes [Rules]: a state of plain data, a Step that advances it by one tick, and the types of its
// commands. [NewGame] compiles them into a [Game]. A [coordinator.Coordinator] orders the commands of a match and writes
// the match's [Log]. Each machine has a [Follower], which computes the states from the log's records:
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
// The log is the whole match. Stored in a file, it is a replay. A late joiner gets its latest keyframe and the records
// after it (see [record.Tail]).
//
// # The determinism contract
//
// Step, New, Derive and Validate depend on their arguments alone, and compute the same on every machine. So a simulation
// uses integers only (no floats), no iteration over a map that could affect the state, no goroutine, channel or select, no
// clock, no global randomness or other global variable, no pointer values, no int or uint in the state, and no unstable
// sort without a total order. Package kit/locksteptest checks a game for faults that the compiler cannot see.
//
// # The packages of a match
//
//	record       the log: its records, their bytes, and the values in them
//	coordinator  orders commands, seals ticks and compares checksums
//	protocol     the messages between a host and a player
//	host         a live match on the server's side: connections, seats, sync, limits
//	player       a live match on the player's side: pacing, prediction, reconnecting
//
// All of them are as pure as this one: bytes and the time go in, bytes and events come out. Packages server and client
// have the sockets and clocks.
//
//samestep:deterministic
package lockstep
