//samestep:deterministic
package bad

import "time"

func seed() int64 {
	return time.Now().UnixNano() // want `clock: `
}

func pause() {
	time.Sleep(time.Millisecond) // want `clock: `
}

var began = time.Now() // want `clock: `

func age() time.Duration {
	return time.Since(began) // want `clock: `
}
