// Server is a program in a module of its own.
package main

import (
	"example.com/torture/rules"
	"github.com/seed-49bee653/samestep/lockstep"
)

func main() { lockstep.MustGame(rules.Rules()) }
