package matchlog

import "slices"

// Interval returns how many ticks are between two checksums of a machine, whose ticks are ascending; 0 if they are too few or too
// irregular to tell where one is missing: nine of ten have the same distance.
func Interval(ticks []uint32) uint32 {
	if len(ticks) < 3 {
		return 0
	}
	distances := make([]uint32, len(ticks)-1)
	for i := range distances {
		distances[i] = ticks[i+1] - ticks[i]
	}
	slices.Sort(distances)
	middle := distances[len(distances)/2]
	from, _ := slices.BinarySearch(distances, middle)
	to, _ := slices.BinarySearch(distances, middle+1)
	if 10*(to-from) < 9*len(distances) {
		return 0
	}
	return middle
}

// First returns the first tick of a recording: lowest, that of its first line, if the machine's checksums, whose ticks are
// ascending, begin later than an [Interval] after the beginning of the match; else 0.
func First(ticks []uint32, lowest uint32) uint32 {
	every := Interval(ticks)
	if every == 0 || ticks[0] <= every {
		return 0
	}
	return min(lowest, ticks[0])
}

// A Gap is ticks of which a machine has recorded nothing.
type Gap struct{ From, To uint32 }

// Gaps returns the gaps of a machine between its checksums, where two or more are missing, and nothing else is recorded. Both
// the ticks of the checksums and of the commands are ascending.
func Gaps(sums, commands []uint32) (gaps []Gap) {
	every := Interval(sums)
	if every == 0 {
		return nil
	}
	for i, before := range sums[:len(sums)-1] {
		for after := sums[i+1]; before < after; {
			at, _ := slices.BinarySearch(commands, before+1)
			next := after
			if at < len(commands) {
				next = min(next, commands[at])
			}
			if (next-before)/every > 2 {
				gaps = append(gaps, Gap{before + 1, next - 1})
			}
			before = next
		}
	}
	return gaps
}
