//go:build !linux && !js

package console

import "time"

// CPUTime returns 0 where it is unknown.
func CPUTime() time.Duration { return 0 }

// BeNice does nothing here.
func BeNice() {}

// MayCompile reports true where it is unknown.
func MayCompile() bool { return true }
