//go:build release && !js

package tool

import (
	"context"
	"embed"
	"io/fs"
)

// The programs of the pages are embedded in release builds:
//
//	go generate -tags release ./cmd/samestep/tool
//	go build -trimpath -tags release ./cmd/samestep
//
//go:generate go run ../../../internal/site/pack wasm skirmish=github.com/seed-49bee653/samestep/examples/skirmish/web/wasm inspector=github.com/seed-49bee653/samestep/cmd/samestep
//go:embed wasm
var embedded embed.FS

// pagePrograms returns the programs of a page.
func pagePrograms(context.Context, *webPage, func(string)) (fs.FS, error) {
	return fs.Sub(embedded, "wasm")
}
