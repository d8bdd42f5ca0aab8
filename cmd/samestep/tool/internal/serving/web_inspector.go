//go:build !js

package serving

import (
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/page"
)

// InspectorPage returns the page of a game without one of its own. Its program is this program, compiled for js/wasm.
func InspectorPage() *gameset.WebPage {
	return &gameset.WebPage{Files: page.Inspector, Programs: map[string]string{"inspector": console.MainPackage()}}
}
