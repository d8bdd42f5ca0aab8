//samestep:allow float gives floats to renderers, and takes none: no result comes back into a simulation

package fixed

// Float64 returns the nearest float, ties to even, for renderers and logs. The result is exact below 2^21. The analyzer
// (samestep vet) refuses it in a simulation.
func (x Q) Float64() float64 { return float64(x) / (1 << 32) }

// Float32 returns the nearest float, ties to even, for renderers. The analyzer (samestep vet) refuses it in a simulation.
func (x Q) Float32() float32 { return float32(x) / (1 << 32) }
