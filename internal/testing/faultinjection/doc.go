// Package faultinjection plants faults in a match of any game, each of a kind that real
// matches have had, and checks that the tools find the tick, the field, the player and the
// byte. So it notices a broken tool before somebody needs the tool.
//
//	result, err := faultinjection.Run(faultinjection.Options{Subject: subject, Seed: 1})
//	for _, row := range result.Rows {
//		fmt.Println(row.Fault, row.Tool, row.Found, row.Right)
//	}
//
// For a fault in a copy of the match (a flipped bit, a dropped command, a draw too
// many) one player or the referee gets the rules of the game with a changed Step. A
// fault in a file is in its bytes or, as an attacker would do it, in its records with
// all checks repaired. The right result follows from the place of the fault and from a
// comparison of all states of two copies, never from the examined tool.
package faultinjection
