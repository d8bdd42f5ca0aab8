// Package unmarked is no simulation.
package unmarked

import "time"

func now() float64 { return float64(time.Now().Unix()) }
