// Package fuzz holds no code: its fuzz targets play whole matches of games, with
// commands that the fuzzer chooses, and compute each one again in the ways of
// package lockstep/locksteptest. Parsers are fuzzed beside the parser.
//
//	go test ./fuzz -run '^$' -fuzz FuzzSkirmish -fuzztime 1m -fuzzminimizetime 20x
//	SAMESTEP_SEEDS=500 go test ./fuzz -run TestSeeds
package fuzz
