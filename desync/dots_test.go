package desync_test

import "github.com/seed-49bee653/samestep/internal/testing/dots"

// The game of the tests that compare replays, and the changes of replays.
var (
	newDots     = dots.New
	recordMatch = dots.Record
	openReplay  = dots.Open
	copyRecords = dots.Copy
	rewrite     = dots.Rewrite
	hurt        = dots.Hurt
	retell      = dots.Retell
	xor         = dots.Xor
	insert      = dots.Insert
	recordDots  = dots.Play
	openFile    = dots.OpenFile
	jsonOf      = dots.JSONOf
)
