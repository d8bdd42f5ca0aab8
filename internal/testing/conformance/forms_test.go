package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// raw is bytes that are copied to a record.
type raw string

// array is a MessagePack array.
type array []any

// pack returns a value in its smallest MessagePack form.
func pack(v any) []byte { return appendPacked(nil, v) }

// record returns the bytes of a record.
func recordBytes(values ...any) []byte { return pack(array(values)) }

func appendPacked(b []byte, v any) []byte {
	switch v := v.(type) {
	case raw:
		return append(b, v...)
	case bool:
		if v {
			return append(b, 0xc3)
		}
		return append(b, 0xc2)
	case int:
		return appendPacked(b, int64(v))
	case int64:
		return appendUnsigned(b, uint64(v))
	case uint64:
		return appendUnsigned(b, v)
	case string:
		return append(appendLength(b, len(v), 0xa0, 32, 0xd9), v...)
	case []byte:
		return append(appendLength(b, len(v), 0, 0, 0xc4), v...)
	case array:
		b = appendLength(b, len(v), 0x90, 16, 0xdb) // arrays have no form with one byte
		for _, x := range v {
			b = appendPacked(b, x)
		}
		return b
	}
	panic(fmt.Sprintf("conformance: a value of type %T", v)) // the builders give no other
}

func appendUnsigned(b []byte, v uint64) []byte {
	be := binary.BigEndian
	switch {
	case v < 1<<7:
		return append(b, byte(v))
	case v < 1<<8:
		return append(b, 0xcc, byte(v))
	case v < 1<<16:
		return be.AppendUint16(append(b, 0xcd), uint16(v))
	case v < 1<<32:
		return be.AppendUint32(append(b, 0xce), uint32(v))
	}
	return be.AppendUint64(append(b, 0xcf), v)
}

// appendLength appends a length: short is the code of lengths below limit, and
// long that of a length in one byte.
func appendLength(b []byte, n int, short byte, limit int, long byte) []byte {
	be := binary.BigEndian
	switch {
	case n < limit:
		return append(b, short|byte(n))
	case n < 1<<8 && long != 0xdb:
		return append(b, long, byte(n))
	case n < 1<<16:
		return be.AppendUint16(append(b, long+1), uint16(n))
	}
	return be.AppendUint32(append(b, long+2), uint32(n))
}

// A file is a replay file while a builder writes it.
type file struct {
	b     []byte
	chain uint64
}

// matchID is the id of every match in the suite.
const matchID = "conformance \x01\x02\x03\x04"

// newFile returns a file with its prefix.
func newFile() *file { return fileOf("\x89SSR\r\n\x1a\n", 1, 0) }

func fileOf(magic string, version, flags uint32) *file {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	b = append(binary.LittleEndian.AppendUint32(b, flags), matchID...)
	return &file{b, xxhash.Sum64(b)}
}

// block appends a block with its check.
func (f *file) block(kind byte, body []byte) *file {
	return f.lengthBlock(kind, binary.AppendUvarint(nil, uint64(len(body))), body)
}

// lengthBlock is block with the bytes of its length.
func (f *file) lengthBlock(kind byte, length, body []byte) *file {
	block := append(append([]byte{kind}, length...), body...)
	f.chain = xxhash.Sum64(append(binary.LittleEndian.AppendUint64(nil, f.chain), block...))
	f.b = binary.LittleEndian.AppendUint64(append(f.b, block...), f.chain)
	return f
}

// batch appends a batch of records.
func (f *file) batch(records ...[]byte) *file { return f.block(1, join(records)) }

// segment appends a segment.
func (f *file) segment(s segment) *file { return f.block(2, s.body()) }

func join(parts [][]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// A segment is the body of a segment's block. Zero values stand for those of the records.
type segment struct {
	first, ticks uint64
	records      []byte
	length       uint64 // len(records)
	sum          uint64 // of the records
	data         []byte // the records in a zstd frame
	lead         []byte // bytes in place of first
}

func (s segment) body() []byte {
	if s.length == 0 {
		s.length = uint64(len(s.records))
	}
	if s.sum == 0 {
		s.sum = xxhash.Sum64(s.records)
	}
	if s.data == nil {
		s.data = frame(s.records)
	}
	if s.lead == nil {
		s.lead = binary.AppendUvarint(nil, s.first)
	}
	b := binary.AppendUvarint(s.lead, s.ticks)
	b = binary.AppendUvarint(b, s.length)
	return append(binary.LittleEndian.AppendUint64(b, s.sum), s.data...)
}

// frame returns a zstd frame (RFC 8878) with one raw block of less than 64 KiB. It does not
// depend on a compressor.
func frame(content []byte) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd}
	if n := len(content); n < 256 {
		b = append(b, 0x20, byte(n)) // one segment, its size in a byte
	} else {
		b = binary.LittleEndian.AppendUint16(append(b, 0x60), uint16(n-256))
	}
	return append(appendRawBlock(b, len(content), true), content...)
}

// appendRawBlock appends the header of a raw block.
func appendRawBlock(b []byte, size int, last bool) []byte {
	head := uint32(size) << 3
	if last {
		head |= 1
	}
	return append(b, byte(head), byte(head>>8), byte(head>>16))
}
