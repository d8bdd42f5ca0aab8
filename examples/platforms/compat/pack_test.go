//go:build !js

package compat

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// A packer writes what another library reads, in as few bytes as it does.
func TestPacker(t *testing.T) {
	for _, v := range []int64{
		0, 1, 127, 128, 255, 256, 1<<16 - 1, 1 << 16, 1<<32 - 1, 1 << 32, maxInt, -1, -32, -33, -128, -129, -1 << 15, -1<<15 - 1, -1 << 31, -1<<31 - 1, -maxInt,
	} {
		var p packer
		p.number(v)
		var got int64
		if err := msgpack.Unmarshal(p.b, &got); err != nil || got != v {
			t.Errorf("%d: got %d, %v", v, got, err)
		}
		var shortest bytes.Buffer
		if err := msgpack.NewEncoder(&shortest).EncodeInt(v); err != nil || !bytes.Equal(p.b, shortest.Bytes()) {
			t.Errorf("%d: got % x, want % x, %v", v, p.b, shortest.Bytes(), err)
		}
		if u := (&unpacker{b: p.b}); u.int() != v || u.err != nil {
			t.Errorf("%d: not read back: %v", v, u.err)
		}
	}
	for _, n := range []int{0, 1, 15, 16, 31, 32, 255, 256, 1<<16 - 1, 1 << 16} {
		var p packer
		text := strings.Repeat("x", n)
		p.text(text)
		p.listOf(n)
		for range n {
			p.number(7)
		}
		d := msgpack.NewDecoder(bytes.NewReader(p.b))
		got, err := d.DecodeString()
		list, err2 := d.DecodeSlice()
		if err != nil || err2 != nil || got != text || len(list) != n {
			t.Errorf("%d: got a text of %d bytes and a list of %d, %v, %v", n, len(got), len(list), err, err2)
		}
		if u := (&unpacker{b: p.b}); u.text() != text || u.listLen() != n || u.err != nil {
			t.Errorf("%d: not read back: %v", n, u.err)
		}
	}
}

// An integer is read in any of its forms, and refused beyond 53 bits.
func TestUnpackNumbers(t *testing.T) {
	for in, want := range map[string]int64{
		"\xcc\x05": 5, "\xcd\x00\x05": 5, "\xce\x00\x00\x00\x05": 5, "\xcf\x00\x00\x00\x00\x00\x00\x00\x05": 5,
		"\xd0\xfb": -5, "\xd1\xff\xfb": -5, "\xd2\xff\xff\xff\xfb": -5, "\xd3\xff\xff\xff\xff\xff\xff\xff\xfb": -5, "\xd0\x05": 5,
		"\xcf\x00\x1f\xff\xff\xff\xff\xff\xff": maxInt, "\xd3\xff\xe0\x00\x00\x00\x00\x00\x01": -maxInt,
	} {
		if u := (&unpacker{b: []byte(in)}); u.int() != want || u.err != nil {
			t.Errorf("% x: %v, want %d", in, u.err, want)
		}
	}
	for _, in := range []string{
		"\xcf\x00\x20\x00\x00\x00\x00\x00\x00", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "\xd3\xff\xe0\x00\x00\x00\x00\x00\x00",
		"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "\xca\x3f\x80\x00\x00", "\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", "\xc3", "\xc0", "\xcd\x00", "",
	} {
		if u := (&unpacker{b: []byte(in)}); u.int() != 0 || u.err == nil {
			t.Errorf("% x: was accepted", in)
		}
	}
}

// FuzzParse reads bytes of anybody. What is accepted, another library reads as the same.
func FuzzParse(f *testing.F) {
	for _, m := range []any{
		map[string]any{"kind": "auth", "token": "a"},
		map[string]any{"kind": "checksum", "tick": 100, "checksum": "0123abcd"},
		map[string]any{"kind": "command", "command": map[string]any{"type": "MOVE", "sequence": 1, "targets": []int{8, 7}, "x": -1}},
		map[string]any{"kind": "other", "x": []any{1.5, []byte{1}, nil, true, math.Inf(1), map[string]any{"a": "b"}}},
	} {
		b, err := msgpack.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err != nil {
			return
		}
		if n := testing.AllocsPerRun(1, func() { parse(b) }); n > float64(20+8*len(b)) {
			t.Errorf("%v allocations for %d bytes", n, len(b))
		}
		if m.command != nil && len(m.command.targets) > 256 {
			t.Errorf("got %d targets", len(m.command.targets))
		}
		var other map[string]any
		if msgpack.Unmarshal(b, &other) != nil {
			return // it is stricter with values that we pass over
		}
		if kind, ok := other["kind"].(string); ok && kind != m.kind {
			t.Errorf("got kind %q, want %q", m.kind, kind)
		}
		if tick, ok := other["tick"]; ok && reflect.ValueOf(tick).CanInt() && reflect.ValueOf(tick).Int() != m.tick {
			t.Errorf("got tick %d, want %v", m.tick, tick)
		}
	})
}
