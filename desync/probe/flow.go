package probe

import (
	"bytes"
	"runtime"
	"strconv"
)

// Spawn records that a statement starts a goroutine. From then on each event asks for its goroutine, which costs a
// microsecond.
func Spawn(site int) {
	S(site)
	rec.Lock()
	defer rec.Unlock()
	if !rec.spawned {
		rec.spawned, rec.first = true, goroutine()
	}
}

// goroutine returns the number of this goroutine, which the runtime tells in the first line of a stack only.
func goroutine() uint64 {
	var buf [48]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	n, _ := strconv.ParseUint(string(b[:max(bytes.IndexByte(b, ' '), 0)]), 10, 64)
	return n
}
