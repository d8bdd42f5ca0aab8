package goods

// An Effect is what a journey does to a load.
type Effect func(count, days int32) int32

func plain(count, _ int32) int32 { return count }

func perish(count, days int32) int32 { return count - count*min(days, 9)/10 }

func heavy(count, days int32) int32 { return count - min(count, days/8) }

// effects are by name.
var effects = map[string]Effect{
	"plain":  plain,
	"perish": perish,
	"heavy":  heavy,
}

// ByDay are the effects of the days of a week.
var ByDay = [...]Effect{plain, perish, plain, heavy}

// Arrive returns what is left of a load of a good.
func Arrive(good int, count, days int32) int32 { return effects[Table[good].Effect](count, days) }
