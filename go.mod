module github.com/seed-49bee653/samestep

go 1.26
