// Package fixed has fixed-point numbers that are the same bits on every machine: scalars, turns, vectors, random generators
// that are plain state, a grid of positions and a sort. It is made for an RTS: economy rates do not drift, mirrored players
// get mirrored results, and far positions are as exact as near ones.
//
//	pos = pos.MoveToward(goal, speed)                 // Vec2, Q
//	heading = heading.Toward(pos.Heading(), turnRate) // Turn
//	if pos.InRange(enemy.Pos, attackRange) { ... }
//
// # Numbers
//
//	Q      int64    v stands for v / 2^32: ±2,147,483,648, in steps of 0.00000000023
//	Turn   uint32   v stands for v / 2^32 of a full turn; it wraps by itself
//	Vec2   two Q    a point or a displacement; Vec3 has a height
//	Rand   two uint64, the state of a generator; NewStream makes one for each purpose; Draw needs no state
//
// All are plain data: copy them, compare them, keep them in a simulation's state. A unit, or ulp, is 2^-32. Native + and -
// are exact and wrap. Methods saturate at MinQ and MaxQ. Every function is total: no input panics. Division by zero
// saturates by the sign, 0/0 is 0, the root of a negative number is 0, and its logarithm is MinQ. With the build tag
// samestep_overflow, an operation that would saturate panics instead: run the tests of a game with it.
//
// Ties round to even, which is odd-symmetric: mirrored positions stay mirrored to the bit (TestMirror).
//
// # Promises and their proofs
//
//	function                          error in ulp           proof
//	Add Sub Mul MulWrap Div MulDiv    correctly rounded      TestArithmetic, TestThreeNumbers: math/big
//	Mod Floor Ceil Round Lerp         exact, rounded once    the same
//	Sqrt RSqrt Hypot, ISqrt64/128     correctly rounded      TestArithmetic, TestIntegerRoots
//	Sin Cos SinCos                    correctly rounded      TestSinAllTurns -exhaustive: all 2^32 turns
//	Tan                               Sin.Div(Cos)           TestTan
//	SinRadians CosRadians             0.5 + 2^-27            TestBounds: 400-bit series, all of int64
//	Atan2 Atan2Radians                0.5000001              TestDirections
//	Asin Acos                         0.500001               TestAsinAcos
//	Exp2, Exp                         0.51, 0.75             TestBounds, TestExp2Top
//	Log2, Log                         0.5 + 2^-20            TestBounds
//	Pow                               0.5 + 2^-20 · result   TestPow, for |y| ≤ 8; grows with y
//	Dot Cross                         correctly rounded      TestProducts
//	DotSign CrossSign Orient2D        exact for all int64    TestProducts, TestOrient2D
//	InRange CompareDistance           exact for all int64    TestDistances, TestVec3InRange
//	Normalize ClampLen                correctly rounded      TestNormalize, TestClampLen
//	Parse String                      correctly rounded      FuzzParse, TestTextRoundTrip
//
// Results of other software are in testdata/vectors (TestVectors). testdata/sums.txt has a hash over 500,000 inputs of
// each function (TestSums), the same on amd64, 386 with and without SSE2, arm64, s390x and WebAssembly.
//
// # Floats
//
// Float64 and Float32 are for renderers. A simulation may not use floats, and no float decides a bit here. Some operations
// begin with a float, because it is fast. Then an integer test either proves the result for every float within its error,
// or sends the doubtful case to integers alone. Only seed.go and, for WebAssembly, mul_wasm.go do this. TestQuickWays,
// TestQuickSines and TestArithmetic compare them with the integer versions.
//
// # Format
//
// The generator (PCG-DXSM), the mixing of Draw, the hash of NewStream, their constants, and all results above are part of the
// format of a replay. Changing one changes the engine's version.
//
//samestep:deterministic
package fixed
