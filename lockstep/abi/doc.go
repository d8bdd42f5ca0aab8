// Package abi has the messages between the engine and rules that run elsewhere, such as in a WebAssembly module. They are
// specified in docs/spec/abi.md.
//
// A [Machine] makes instances of such rules, and lockstep.NewGameElsewhere makes a game of it. Each instance has one world. It
// answers one call at a time: a [Function], and bytes in and out. All messages are canonical bytes, as package state describes
// them, but for the description of the rules, which is JSON.
//
//samestep:deterministic
package abi
