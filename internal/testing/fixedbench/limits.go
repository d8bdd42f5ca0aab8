package fixedbench

import "runtime"

// limits has the largest ratio that an operation should have on amd64, wasm and 386. An operation without a row has no limit.
var limits = map[string][3]float64{
	"Mul":        {3.5, 4, 8},
	"MulWrap":    {2.7, 1.7, 4.8},
	"Div":        {1.9, 8, 18},
	"Sqrt":       {1.1, 1.5, 10},
	"Hypot":      {1.4, 3.5, 20},
	"InRange":    {2.7, 6, 6},
	"Sin":        {0.75, 0.30, 0.23},
	"Cos":        {0.75, 0.30, 0.23},
	"SinCos":     {0.8, 0.5, 0.4},
	"SinRadians": {1.0, 0.6, 0.45},
	"Atan2":      {0.75, 0.55, 1.5},
	"Normalize":  {1.7, 4, 9},
	"Exp2":       {0.5, 0.5, 0.6},
	"Log2":       {0.8, 0.5, 0.6},
	"Seek":       {5, 4, 12},
}

// Limit returns the largest ratio that the operation should have on this architecture; 0 for no limit.
func (p Pair) Limit() float64 { return p.limit(runtime.GOARCH) }

func (p Pair) limit(arch string) float64 {
	row := limits[p.Name]
	switch arch {
	case "amd64":
		return row[0]
	case "wasm":
		return row[1]
	case "386":
		return row[2]
	}
	return 0
}
