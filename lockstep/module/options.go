package module

import "time"

// DefaultTime is the longest that a call may take without [Options].
const DefaultTime = 10 * time.Second

// Options are those of [Compile].
type Options struct {
	Cache string        // the folder of compiled modules, which only this user can write; "": compile each time
	Time  time.Duration // the longest that a call may take; 0: DefaultTime

	// Interpret runs the module without compiling it to machine code. It is more than ten times slower, and gives the same.
	Interpret bool
}
