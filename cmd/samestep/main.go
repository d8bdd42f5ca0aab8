// Samestep is the engine's command line: it plays demonstration matches, hosts and joins live matches, and inspects and
// verifies replays. It has the example games. A program for another game is as short: see package tool.
//
//	samestep demo
//	samestep serve
//	samestep replay verify match.ssr
package main

import (
	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	_ "github.com/seed-49bee653/samestep/cmd/samestep/tool/mcap"
	_ "github.com/seed-49bee653/samestep/cmd/samestep/tool/s3"
	_ "github.com/seed-49bee653/samestep/cmd/samestep/tool/watch"
)

func main() { tool.Main(games.All()...) }
