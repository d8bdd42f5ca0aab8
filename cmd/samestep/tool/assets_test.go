//go:build !js

package tool

import "github.com/seed-49bee653/samestep/internal/testing/testgame"

// tilesGame is a game whose maps are assets.
func tilesGame() []Game { return []Game{New(testgame.TilesRules())} }
