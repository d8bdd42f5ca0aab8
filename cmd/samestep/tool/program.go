//go:build !js

package tool

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

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

// isProgram says that this process is the program of [Main], so that it can start itself.
var isProgram bool

// module is the import path of the engine.
const module = "github.com/seed-49bee653/samestep"
