// Bare is the program of an inspector page whose games are all modules.
package main

import "github.com/seed-49bee653/samestep/page/program"

func main() { program.Run() }
