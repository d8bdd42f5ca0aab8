//go:build release && !js

package main

import (
	"embed"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

// The programs of the pages are embedded in release builds:
//
//	go run ./cmd/samestep pack cmd/samestep/wasm
//	go build -trimpath -tags release ./cmd/samestep
//
//go:embed wasm
var wasm embed.FS

func init() { tool.Programs(wasm) }
