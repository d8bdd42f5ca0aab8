package clustertool

import "github.com/seed-49bee653/samestep/cmd/samestep/tool"

// Main is the program of the inspector page for these games, as in package tool.
func Main(games ...tool.Game) { tool.Main(games...) }
