module github.com/seed-49bee653/samestep/examples/marbles

go 1.26.0

require github.com/seed-49bee653/samestep v0.0.0

replace github.com/seed-49bee653/samestep => ../..
