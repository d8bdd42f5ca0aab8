//go:build !linux && !js

package tool

import "time"

// cpuTime returns 0 where it is unknown.
func cpuTime() time.Duration { return 0 }

// beNice does nothing here.
func beNice() {}

// mayCompile reports true where it is unknown.
func mayCompile() bool { return true }
