// Package fixed is fixed-point numbers that are the same bits everywhere: scalars, turns, vectors, randomness that is
// plain state, and what a simulation needs beside them. An RTS stands on it: economy rates must not drift, mirrored players
// must be treated alike, far must stay far, and every machine must get the same bits.
//
//	pos = pos.MoveToward(goal, speed)                 // Vec2, Q
//	heading = heading.Toward(pos.Heading(), turnRate) // Turn
//	if pos.InRange(enemy.Pos, attackRange) { ... }
//
// # Numbers
//
//	Q      int64    v stands for v / 2^32: ±2,147,483,648, in steps of 0.00000000023
//	Turn   uint32   v stands for v / 2^32 of a full turn; it wraps by itself
//	Vec2   two Q    a point or a way; Vec3 for what flies
//	Rand   two uint64, the state of a generator; Draw needs no state
//
// All are plain data: copy them, compare them, keep them in a simulation's state. A unit, or ulp, is 2^-32. Native + and -
// are exact and wrap; methods saturate at MinQ and MaxQ, and every function is total: no input panics. Division by zero
// saturates by the sign, 0/0 is 0, the root of a negative number is 0, the logarithm of one is MinQ. Built with the tag
// samestep_overflow, all that would saturate panics instead; run the tests of a game so.
//
// Ties round to even, which is odd-symmetric: what is mirrored on the map is mirrored to the bit (TestMirror).
//
// # Promises, and where the proof is
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
// Other software's numbers stand in testdata/vectors (TestVectors). Every function has a hash over 500,000 inputs in
// testdata/sums.txt (TestSums), the same on amd64, 386 with and without SSE2, arm64, s390x and
// WebAssembly.
//
// # Floats
//
// A simulation may not use floats, and none decides a bit here. Some operations begin with one, as the processor is
// quick with it: then an integer test either proves the result for every float as near as that, or sends
// the doubtful case to integers alone. Only seed.go and, for WebAssembly, mul_wasm.go do this; TestQuickWays,
// TestQuickSines and TestArithmetic compare them with the ways without.
//
// # Format
//
// The generator (PCG-DXSM) and the mixing of Draw, their constants, and all results above are part of the format of a
// replay: a change is a change of the engine's version.
//
//samestep:deterministic
package fixed
