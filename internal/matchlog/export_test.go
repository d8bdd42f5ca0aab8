package matchlog

// SetCount sets the number of entries that a Reader has read.
func (m *Reader) SetCount(n int) { m.count = n }

// The two ways to read a line.
var (
	QuickEntry = (*Header).quickEntry
	ParseEntry = (*Header).parseEntry
)
