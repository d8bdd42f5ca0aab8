// Package mcap lets a program's replay export write MCAP, the format of Foxglove and other viewers:
//
//	import _ "github.com/seed-49bee653/samestep/cmd/samestep/tool/mcap"
package mcap
