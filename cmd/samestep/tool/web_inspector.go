//go:build !js

package tool

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/seed-49bee653/samestep/page"
	"github.com/seed-49bee653/samestep/page/canvas"
)

// Draw shows a picture of the game's own on its page, above which the page shows nothing else at first. draw draws a state,
// which it must not change. Without Draw, the page has a map of everything in the state that has a place: each struct of
// two integers X and Y, such as a fixed.Vec2.
func Draw[S any](draw func(c *canvas.Canvas, world *S)) Option {
	return func(p *playable) error {
		if got := reflect.TypeFor[S](); draw != nil && got != p.world {
			return fmt.Errorf("tool.Draw: got a function for the state %v, want %v", got, p.world)
		}
		return nil // only the page draws: see main_js.go
	}
}

// mainFolder is the folder of the program's package main, or "" if it is not on this machine. [Run] sets it.
var mainFolder string

// findMain returns the folder of the caller's function main.
func findMain() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if frame.Function == "main.main" && filepath.IsAbs(frame.File) { // not if it was built with -trimpath
			if _, err := os.Stat(frame.File); err == nil {
				return filepath.Dir(frame.File)
			}
		}
		if !more {
			return ""
		}
	}
}

// inspectorPage returns the page of a game without one of its own. Its program is this program, compiled for js/wasm.
func inspectorPage() *webPage {
	return &webPage{files: page.Inspector, programs: map[string]string{"inspector": mainPackage()}}
}

// mainPackage returns the path of the program's package main, in mainFolder if that is known.
func mainPackage() string {
	if mainFolder != "" {
		return "."
	}
	return cmp.Or(mainPath(), module+"/cmd/samestep")
}

// mainPath returns the import path of the program's package main, or "" if it is not known.
func mainPath() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || strings.HasSuffix(info.Path, ".test") || info.Path == "command-line-arguments" {
		return ""
	}
	return info.Path
}
