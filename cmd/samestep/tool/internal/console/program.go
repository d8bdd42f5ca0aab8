//go:build !js

package console

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// MainFolder is the folder of the program's package main, or "" if it is not on this machine. tool.Run sets it.
var MainFolder string

// FindMain returns the folder of the caller's function main.
func FindMain() string {
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

// MainPackage returns the path of the program's package main, in MainFolder if that is known.
func MainPackage() string {
	if MainFolder != "" {
		return "."
	}
	return cmp.Or(MainPath(), Module+"/cmd/samestep")
}

// MainPath returns the import path of the program's package main, or "" if it is not known.
func MainPath() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || strings.HasSuffix(info.Path, ".test") || info.Path == "command-line-arguments" {
		return ""
	}
	return info.Path
}

// IsProgram says that this process is the program of tool.Main, so that it can start itself.
var IsProgram bool

// Module is the import path of the engine.
const Module = "github.com/seed-49bee653/samestep"
