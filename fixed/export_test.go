package fixed

// The ways without floats and the tables, for the tests that compare them with the quick ways.
var (
	DivSlow        = divSlow
	MulNarrow      = mulNarrow
	RSqrtSlow      = rsqrtSlow
	InRangeExact   = Vec2.inRangeExact
	WithLength     = Vec2.withLength
	WithLengthSlow = Vec2.withLengthSlow
)

// SineTable is Sin without floats.
func SineTable(t Turn) Q { return sineTable(uint32(t)) }

// SineQuick is the sine from its floating-point seed, and whether it is certain.
func SineQuick(t Turn) (Q, bool) {
	s := sineSeed(folded(uint32(t)))
	return Q((s + 1<<11) >> 12), certain(s, 12)
}

// RadiansTable is the sine of an angle in radians and some quarters, without floats.
func RadiansTable(x Q, quarters uint64) Q { return sineRadiansTable(x, quarters<<62) }

// RadiansQuick is the same for an angle in radians, for |x| ≤ 64.
func RadiansQuick(x Q, quarters int32) (Q, bool) {
	y, odd := quartersSeed(int64(x), quarters)
	s := (sineSeed(y) ^ odd) - odd
	return Q((s + 1<<11) >> 12), certain(s, 12)
}

// Atan2Slow is Atan2 without the quick way.
func Atan2Slow(y, x Q) Turn { return Turn((directionSlow(y, x) + 1<<30) >> 31) }

// Atan2RadiansSlow is Atan2Radians without the quick way.
func Atan2RadiansSlow(y, x Q) Q {
	m := Q((inRadians(directionSlow(y, x), y) + 1<<27) >> 28)
	if y < 0 {
		return -m
	}
	return m
}

// TableBytes is the size of all tables.
const TableBytes = (256+257+256)*(4*8+2*4) + 256*16

// PanicOnOverflow tells whether the build tag samestep_overflow is set.
const PanicOnOverflow = panicOnOverflow

// Damage changes one entry of a table, as a bad edit would, and returns the function that restores it.
func Damage() (mend func()) {
	sinePieces[100].c0 += 1 << 33
	return func() { sinePieces[100].c0 -= 1 << 33 }
}

// Golden and Mix are the parts of the generators' seeds.
const Golden = golden

// Mix is the finalizer of SplitMix64.
func Mix(x uint64) uint64 { return mix(x) }
