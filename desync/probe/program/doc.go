// Package program is the main of a program that samestep desync line builds: the rules of a game, with or without probes,
// and no more. It does the [Job] in the file that its argument names, and writes the [Result] to a file.
//
// A program has the rules of one or more games, and uses those of the name in the job's log.
package program
