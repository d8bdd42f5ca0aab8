//samestep:deterministic
package bad

import "github.com/seed-49bee653/samestep/fixed"

func area(width, height fixed.Q) fixed.Q {
	return width * height // want `fixedpoint: `
}

func share(all, part fixed.Q) fixed.Q {
	return (all - part) / part // want `fixedpoint: `
}

func grow(x, factor fixed.Q) fixed.Q {
	x *= factor // want `fixedpoint: `
	return x
}

func later(at fixed.Q) bool {
	return at > 10 // want `fixedpoint: `
}

func farther(at fixed.Q, cells uint16) fixed.Q {
	return at + fixed.Q(cells) // want `fixedpoint: `
}

func rest(at fixed.Q) fixed.Q {
	return at % 2 // want `fixedpoint: `
}

func shifted(x fixed.Q) fixed.Q {
	return x << 32 // want `fixedpoint: `
}
