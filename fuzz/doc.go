// Package fuzz has only tests. Its fuzz targets play whole matches of games with commands
// that the fuzzer chooses, and compute each match again as package
// kit/locksteptest does. The fuzz targets of parsers are in the parsers' packages.
//
//	go test ./fuzz -run '^$' -fuzz FuzzSkirmish -fuzztime 1m -fuzzminimizetime 5x
//	SAMESTEP_SEEDS=500 go test ./fuzz -run TestSeeds
package fuzz
