package games

import "github.com/seed-49bee653/samestep/cmd/samestep/tool"

// compatible returns nothing: a page speaks no other wire.
func compatible() []tool.Option { return nil }
