package client

import "time"

// A browser has its own network, so these options of other platforms are empty. Without them a program links neither
// net nor net/http, which are more than half of its size.
type (
	httpClient = struct{}
	netConn    = any
	packetConn = any
)

const (
	// sliceTime is how long a session works before the page is drawn again, if there is much to do.
	sliceTime = 8 * time.Millisecond

	// budget is how many ticks the client runs at a time, unless its options say otherwise. It is small, because a
	// timeslice cannot end in between.
	budget = 4
)
