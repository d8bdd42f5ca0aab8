// Package module runs rules in WebAssembly modules. docs/spec/abi.md specifies what such a module is.
//
// [Compile] makes [Rules] of the bytes of a module. lockstep.NewGameElsewhere makes a game of them, which is hosted, verified and
// debugged like any other:
//
//	rules, err := module.Compile(bytes, module.Options{Cache: folder})
//	game, err := lockstep.NewGameElsewhere(rules)
//
// A module is not trusted. It imports nothing, so it reaches nothing outside its own memory; its size, its memory, its stack and
// the time of each call are bounded. A module that exceeds a bound or traps is a panic of the rules, as one of native rules is.
package module
