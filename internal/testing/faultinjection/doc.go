// Package faultinjection plants faults in a match of the example game, each of a kind
// that real matches have had, and checks that the tools name them: the tick, the
// field, the player, the byte. A tool that has become blind is found by it,
// before somebody needs the tool.
//
//	result, err := faultinjection.Run(faultinjection.Options{Seed: 1})
//	for _, row := range result.Rows {
//		fmt.Println(row.Fault, row.Tool, row.Found, row.Right)
//	}
//
// Faults of a copy (a flipped bit, a dropped command, a draw too many) are
// planted by other rules: those of the game with a changed Step, in the hands of
// one player or of the referee. Faults of a file are planted in its bytes or, by
// somebody who means it, in its records with all checks repaired. What is right
// comes from where the fault was planted, and from comparing all states of two
// copies one by one, never from the tool that is examined.
package faultinjection
