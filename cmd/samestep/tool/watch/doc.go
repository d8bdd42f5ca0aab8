// Package watch lets a program's replay watch show a match on the whole terminal:
//
//	import _ "github.com/seed-49bee653/samestep/cmd/samestep/tool/watch"
package watch
