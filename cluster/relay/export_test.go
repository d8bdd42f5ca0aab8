//go:build !js

package relay

import "time"

// Hurry lets a relay wait less before a match is dark.
func (o *Options) Hurry(darkAfter time.Duration) { o.darkAfter = darkAfter }
