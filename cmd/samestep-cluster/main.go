// Samestep-cluster is the command line of samestep with the verbs for several machines. It has the example games. A
// program for another game is as short: see package clustertool.
//
//	samestep-cluster farm submit replays
//	samestep-cluster farm work
//	samestep-cluster farm watch
package main

import (
	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep-cluster/clustertool"
)

func main() { clustertool.Main(games.All()...) }
