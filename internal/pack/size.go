package pack

import "encoding/binary"

// Size returns the size of the value that b begins with, of any type, together with the values inside of it. If b ends inside
// the value, or does not begin with one, size is 0; open is the size that the string, byte string or extension at that place
// claims, if it begins before the end of b.
func Size(b []byte) (size int, open uint64) {
	at := uint64(0)
	for left := uint64(1); left > 0; left-- {
		if at >= uint64(len(b)) {
			return 0, 0
		}
		c := b[at]
		at++
		width := 0 // of a length
		content := uint64(0)
		switch {
		case c < 0x80 || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3: // a small number, nil, a bool
		case c < 0x90:
			left += 2 * uint64(c&15)
		case c < 0xa0:
			left += uint64(c & 15)
		case c < 0xc0:
			content = uint64(c & 31)
		case c >= 0xc4 && c <= 0xc6: // bytes
			width = 1 << (c - 0xc4)
		case c >= 0xc7 && c <= 0xc9: // an extension
			width, content = 1<<(c-0xc7), 1
		case c == 0xca || c == 0xcb: // a float
			at += 4 << (c - 0xca)
		case c >= 0xcc && c <= 0xcf:
			at += 1 << (c - 0xcc)
		case c >= 0xd0 && c <= 0xd3:
			at += 1 << (c - 0xd0)
		case c >= 0xd4 && c <= 0xd8: // a short extension
			at += 1 + 1<<(c-0xd4)
		case c >= 0xd9 && c <= 0xdb: // a string
			width = 1 << (c - 0xd9)
		case c >= 0xdc: // an array or a map
			width = 2 << ((c - 0xdc) % 2)
		default:
			return 0, 0
		}
		if width > 0 {
			var n [8]byte
			if uint64(len(b))-at < uint64(width) {
				return 0, 0
			}
			copy(n[8-width:], b[at:at+uint64(width)])
			at += uint64(width)
			switch number := binary.BigEndian.Uint64(n[:]); {
			case c < 0xdc:
				content += number
			case c < 0xde:
				left += number
			default:
				left += 2 * number
			}
		}
		if at <= uint64(len(b)) && content > uint64(len(b))-at {
			return 0, content
		}
		if at += content; at > uint64(len(b)) || left-1 > uint64(len(b))-at {
			return 0, 0 // each value has at least a byte
		}
	}
	return int(at), 0
}
