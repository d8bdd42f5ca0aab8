package bodies

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
)

// Arrive returns the way (cells) of a tick towards a goal, at most speed (cells a tick). It slows down within slow (cells) of
// the goal, down to an eighth of the speed, and ends exactly there: alone, a body neither passes its goal nor trembles.
func Arrive(at, goal fixed.Vec2, speed, slow fixed.Q) fixed.Vec2 {
	speed, slow = extent(speed), extent(slow)
	if !at.InRange(goal, slow) {
		return step(at, goal, speed)
	}
	left := fixed.Hypot(minus(goal.X, at.X), minus(goal.Y, at.Y))
	return step(at, goal, min(speed, max(fixed.MulDiv(speed, left, slow), speed/8+ulp)))
}

func step(at, goal fixed.Vec2, length fixed.Q) fixed.Vec2 {
	to := at.MoveToward(goal, length)
	return fixed.Vec2{X: minus(to.X, at.X), Y: minus(to.Y, at.Y)}
}

// A Formation is a block of places in ranks, one behind the other. It is plain data.
type Formation struct {
	At      fixed.Vec2 // the middle of its first rank
	Facing  fixed.Turn
	Files   uint16  // places side by side in a rank; 0 counts as 1
	Spacing fixed.Q // cells between the middles of two neighbours
}

// Place returns place k of n: rank by rank from the front, and from left to right in each. The last rank is centred.
func (f Formation) Place(k, n int) fixed.Vec2 {
	files := max(int(f.Files), 1)
	rank, file := k/files, k%files
	wide := min(files, n-rank*files)
	spacing := limited(f.Spacing)
	right := fixed.MulDiv(spacing, fixed.Q(2*file-wide+1), 2)
	back := fixed.MulDiv(spacing, fixed.Q(rank), 1)
	offset := fixed.Vec2{X: -back, Y: -right}.Rotate(f.Facing)
	return fixed.Vec2{X: plus(f.At.X, offset.X), Y: plus(f.At.Y, offset.Y)}
}

// Assign appends to places the number of a place for each position: each of 0 to len(at)-1 once. The foremost bodies, seen in
// the direction that the formation faces, get the first rank, and within a rank all keep their order from left to right, so
// that few ways cross. The lower index decides between equals.
func (f Formation) Assign(at []fixed.Vec2, places []int32) []int32 {
	s, c := f.Facing.SinCos()
	ahead, right := fixed.Vec2{X: c, Y: s}, fixed.Vec2{X: s, Y: -c}
	along := func(i int32, axis fixed.Vec2) fixed.Q {
		p := at[i]
		return fixed.Vec2{X: p.X/4 - f.At.X/4, Y: p.Y/4 - f.At.Y/4}.Dot(axis) // a quarter cannot overflow
	}
	n, first := len(at), len(places)
	places = slices.Grow(places, 2*n)[:first+2*n]
	order, places := places[first+n:], places[:first+n]
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(along(b, ahead), along(a, ahead)), cmp.Compare(a, b)) })
	files := max(int(f.Files), 1)
	for from := 0; from < n; from += files {
		rank := order[from:min(from+files, n)]
		slices.SortStableFunc(rank, func(a, b int32) int { return cmp.Or(cmp.Compare(along(a, right), along(b, right)), cmp.Compare(a, b)) })
		for k, i := range rank {
			places[first+int(i)] = int32(from + k)
		}
	}
	return places
}
