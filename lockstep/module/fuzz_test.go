package module

import "testing"

// No bytes make the reading of a module panic, and what guard accepts is compiled or refused.
func FuzzGuard(f *testing.F) {
	for _, a := range []assembly{
		{}, {call: join(forever, i64(0))}, {more: [][]byte{{opCall, 3}}}, {memory: []byte{1, 1, 2}},
		{sections: section(sectionData, join([]byte{0}, i32(8), []byte{opEnd, 2, 7, 7}))},
		{imports: join(appendSized(nil, []byte("wasi_snapshot_preview1")), appendSized(nil, []byte("fd_write")), []byte{0, 0})},
	} {
		f.Add(a.bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		WithoutSystem(b)
		if r, err := Compile(b, Options{Interpret: true}); err == nil {
			r.Close()
		}
	})
}
