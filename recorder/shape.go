package recorder

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// Limits of a schema. samestep replay refuses more.
const (
	maxNodes = 4096
	maxDepth = 32
	maxFixed = 1 << 30 // bytes
)

// A shape is what a schema says about the size of a state: its parts in their order, those of an element after the part with
// the elements.
type shape []part

// A part is a run of bytes, or the elements of a slice, an array or a string.
type part struct {
	counted bool   // the bytes begin with the number of elements; else there is one, or n if they have parts
	n       uint32 // bytes of an element without parts
	end     int    // the index after the parts of an element, or 0 if it has none
}

// parseShape returns the shape of a schema, and -1, or the byte from which on the text is no struct type.
func parseShape(schema string) (shape, int) {
	p := shapeParser{text: schema}
	if p.space(" \t\r\n"); !strings.HasPrefix(p.text[p.at:], "struct") || !p.typ(1) {
		return nil, p.at
	}
	if p.space(" \t\r\n"); p.at < len(p.text) {
		return nil, p.at
	}
	return p.shape, -1
}

// A shapeParser reads a schema (docs/spec/recordings.md, "Types of states") from the left to the right, up to its first fault.
type shapeParser struct {
	text  string
	at    int
	nodes int
	run   int // the first part that further bytes may join
	shape shape
}

func (p *shapeParser) space(of string) {
	for p.at < len(p.text) && strings.IndexByte(of, p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *shapeParser) take(c byte) bool {
	p.space(" \t\r\n")
	if p.at == len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

// word reads a name or a number.
func (p *shapeParser) word() string {
	p.space(" \t\r\n")
	from := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// typ reads a type, and appends its parts.
func (p *shapeParser) typ(depth int) bool {
	if p.nodes++; depth > maxDepth || p.nodes > maxNodes {
		return false
	}
	if p.take('[') {
		return p.elements(depth)
	}
	switch word := p.word(); word {
	case "struct":
		return p.fields(depth)
	case "bool", "int8", "uint8", "byte":
		return p.bytes(1)
	case "int16", "uint16":
		return p.bytes(2)
	case "int32", "uint32", "float32":
		return p.bytes(4)
	case "int64", "uint64", "float64":
		return p.bytes(8)
	case "string":
		p.shape = append(p.shape, part{counted: true, n: 1})
		p.run = len(p.shape)
		return true
	default:
		p.at -= len(word)
		return false
	}
}

// bytes appends bytes to the last part.
func (p *shapeParser) bytes(n uint64) bool {
	if len(p.shape) == p.run {
		p.shape = append(p.shape, part{})
	}
	last := &p.shape[len(p.shape)-1]
	if n += uint64(last.n); n > maxFixed {
		return false
	}
	last.n = uint32(n)
	return true
}

// elements reads an array or a slice after its bracket.
func (p *shapeParser) elements(depth int) bool {
	word := p.word()
	count, err := strconv.ParseUint(word, 10, 32)
	if slice := word == ""; !slice && (err != nil || count == 0 || count > maxFixed) || !p.take(']') {
		return false
	}
	run, i := p.run, len(p.shape)
	p.shape = append(p.shape, part{counted: word == "", n: uint32(count)})
	p.run = len(p.shape)
	if !p.typ(depth + 1) {
		return false
	}
	switch size := p.shape[i+1]; {
	case len(p.shape) > i+2 || size.counted || size.end > 0:
		p.shape[i].end = len(p.shape)
	case word == "":
		p.shape = append(p.shape[:i], part{counted: true, n: size.n})
	default: // an array of a fixed size is a run of bytes
		p.shape, p.run = p.shape[:i], run
		return p.bytes(count * uint64(size.n))
	}
	p.run = len(p.shape)
	return true
}

// fields reads a struct after its keyword.
func (p *shapeParser) fields(depth int) bool {
	if !p.take('{') {
		return false
	}
	for empty := true; ; empty = false {
		if p.take('}') {
			return !empty || depth == 1
		}
		names := 0
		for names == 0 || p.take(',') {
			if word := p.word(); word == "" || word[0] <= '9' {
				p.at -= len(word)
				return false
			}
			names++
		}
		for from := p.at; names > 0; names-- { // each has parts of its own
			if p.at = from; !p.typ(depth + 1) {
				return false
			}
		}
		if p.space(" \t\r"); p.at < len(p.text) && (p.text[p.at] == '\n' || p.text[p.at] == ';') {
			p.at++
		} else if p.at == len(p.text) || p.text[p.at] != '}' {
			return false
		}
	}
}

// fixed reports whether all states have the same size.
func (s shape) fixed() bool { return len(s) == 0 || len(s) == 1 && !s[0].counted && s[0].end == 0 }

// measure returns the size that the parts from i up to end have, from at on in the bytes b. It stops with more than len(b) at
// the first part that b has no room for.
func (s shape) measure(b []byte, at int64, i, end int) int64 {
	for i < end && at <= int64(len(b)) {
		p := s[i]
		i++
		count := int64(1)
		if p.end > 0 {
			count = int64(p.n)
		}
		if p.counted {
			if at += 4; at > int64(len(b)) {
				break
			}
			count = int64(binary.LittleEndian.Uint32(b[at-4:]))
		}
		if p.end == 0 {
			at += count * int64(p.n) // at most 2^32 * 2^30
			continue
		}
		for ; count > 0 && at <= int64(len(b)); count-- {
			at = s.measure(b, at, i, p.end)
		}
		i = p.end
	}
	return at
}
