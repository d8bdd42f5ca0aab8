//go:build !js

package mirror

import "time"

// Hurry lets a mirror wait less before a match is dark.
func (o *Options) Hurry(darkAfter time.Duration) { o.darkAfter = darkAfter }
