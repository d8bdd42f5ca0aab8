//samestep:allow float gives floats to renderers, and takes none: no result comes back into a simulation

package fixed

// Float64 returns the nearest float, ties to even, for renderers and logs, exact below 2^21. samestep vet refuses it in a simulation.
func (x Q) Float64() float64 { return float64(x) / (1 << 32) }

// Float32 returns the nearest float, ties to even, for renderers. The analyzer (samestep vet) refuses it in a simulation.
//
// Some processors convert an int64 by way of a float64 and round twice. So bits that a float64 cannot hold are reduced to one,
// which tells whether any of them was set (rounding to odd).
func (x Q) Float32() float32 {
	const excess = 1<<11 - 1
	if x >= 1<<53 || x <= -1<<53 {
		if x&excess != 0 {
			x |= excess + 1
		}
		x &^= excess
	}
	return float32(float64(x)) / (1 << 32)
}
