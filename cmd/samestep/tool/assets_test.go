//go:build !js

package tool

import "github.com/seed-49bee653/samestep/internal/testing/testgame"

// tilesMain is a program of a game whose maps are assets.
func tilesMain() { Main(New(testgame.TilesRules())) }
