package fixed

// Mathematical constants, rounded to nearest.
const (
	Pi    Q = 13493037705 // half a turn in radians
	Tau   Q = 26986075409 // a full turn in radians
	E     Q = 11674931555 // base of natural logarithms
	Phi   Q = 6949403065  // golden ratio
	Sqrt2 Q = 6074001000  // length of a diagonal of a cell
	Sqrt3 Q = 7439101574  // twice the height of a triangle with sides of 1
	Ln2   Q = 2977044472  // natural logarithm of 2
	Ln10  Q = 9889527671  // natural logarithm of 10
)
