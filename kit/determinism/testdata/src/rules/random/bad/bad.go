//samestep:deterministic
package bad

import (
	crypto "crypto/rand"
	old "math/rand"
	"math/rand/v2"
)

func dice() uint32 {
	return rand.Uint32N(6) // want `random: `
}

func shuffle(units []uint32) {
	old.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] }) // want `random: `
}

func token() string {
	return crypto.Text() // want `random: `
}
