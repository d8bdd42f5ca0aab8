// Samestep-cluster is samestep with what a cluster needs: servers whose matches outlive their machines. It has the example
// games. A program for another game is as short: see package clustertool.
//
//	samestep-cluster serve --durability replicated --tokens tokens.txt
package main

import (
	"github.com/seed-49bee653/samestep/cmd/samestep-cluster/clustertool"
	"github.com/seed-49bee653/samestep/cmd/samestep/games"
)

func main() { clustertool.Main(games.All()...) }
