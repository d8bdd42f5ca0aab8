//go:build !js

package tool

import (
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/page"
)

// inspectorPage returns the page of a game without one of its own. Its program is this program, compiled for js/wasm.
func inspectorPage() *gameset.WebPage {
	return &gameset.WebPage{Files: page.Inspector, Programs: map[string]string{"inspector": console.MainPackage()}}
}
