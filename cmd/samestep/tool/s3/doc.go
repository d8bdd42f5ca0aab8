// Package s3 lets a program keep its archive in object storage, at s3://BUCKET/PREFIX:
//
//	import _ "github.com/seed-49bee653/samestep/cmd/samestep/tool/s3"
package s3
