package state

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxTypeBytes is the size of the longest text that [ParseType] reads.
const MaxTypeBytes = 64 << 10

// A TypeTextError tells where the text of a type is malformed. A type that is well-formed but not allowed is a [*SchemaError].
type TypeTextError struct {
	Offset int // in bytes
	Reason string
}

func (e *TypeTextError) Error() string {
	return fmt.Sprintf("state: bad type at byte %d: %s", e.Offset, e.Reason)
}

// ParseType reads a struct type of Go as text, such as
//
//	struct { Tick uint32; Units []struct { ID uint32; X, Y float32 } }
//
// It has no names of types, tags, pointers and maps, but floats. docs/spec/recordings.md has the grammar. The error is a [*TypeTextError] or
// a [*SchemaError].
func ParseType(text string) (*Schema, error) {
	if len(text) > MaxTypeBytes {
		return nil, &TypeTextError{0, fmt.Sprintf("%d bytes, at most %d are allowed", len(text), MaxTypeBytes)}
	}
	p := typeParser{text: text}
	nodes := p.typ("", 1)
	if p.space(true); p.err == nil && p.at < len(text) {
		p.fail("got %s, want the end", p.next())
	}
	if p.err != nil {
		return nil, p.err
	}
	return newSchema(nodes)
}

// A typeParser reads a type from the left to the right. Its first error stays.
type typeParser struct {
	text string
	at   int
	err  error
}

func (p *typeParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &TypeTextError{p.at, fmt.Sprintf(format, args...)}
	}
}

// space skips spaces and, if lines is true, line ends.
func (p *typeParser) space(lines bool) {
	for p.at < len(p.text) && (strings.IndexByte(" \t\r", p.text[p.at]) >= 0 || lines && p.text[p.at] == '\n') {
		p.at++
	}
}

// next returns what stands here, for a message.
func (p *typeParser) next() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return strconv.QuoteRune(r)
}

// take skips spaces and then c, and reports whether c stood there.
func (p *typeParser) take(c byte) bool {
	p.space(true)
	if p.err != nil || p.at >= len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

// want is take for a byte that must stand there.
func (p *typeParser) want(c byte) {
	if !p.take(c) {
		p.fail("got %s, want %q", p.next(), c)
	}
}

// word reads a name or a number.
func (p *typeParser) word() string {
	p.space(true)
	from := p.at
	for p.at < len(p.text) && inName(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

// typ reads a type of a field with a name, or of an element, and returns its nodes.
func (p *typeParser) typ(name string, depth int) []describedNode {
	if depth > MaxDepth {
		p.fail("nested deeper than %d", MaxDepth)
	}
	if p.take('[') {
		n := describedNode{Kind: Slice, Name: name}
		if count := p.word(); count != "" {
			size, err := strconv.ParseUint(count, 10, 32)
			if err != nil || size == 0 || size > math.MaxInt32 {
				p.fail("got the length %.20q, want a whole number from 1 to %d", count, math.MaxInt32)
			}
			n.Kind, n.Count = Array, uint32(size)
		}
		p.want(']')
		if p.err != nil {
			return nil
		}
		return append([]describedNode{n}, p.typ("", depth+1)...)
	}
	at := p.at
	switch word := p.word(); word {
	case "struct":
		return p.fields(name, depth)
	case "byte":
		return []describedNode{{Kind: Uint8, Name: name}}
	default:
		for k := Bool; k <= Float64; k++ {
			if k.leaf() && k.String() == word {
				return []describedNode{{Kind: k, Name: name}}
			}
		}
		p.at = at
		p.space(true)
		if word == "" {
			word = p.next()
		}
		p.fail("got %.40s, want a type, such as int32, float32, string, [4]bool, []struct { … }", word)
	}
	return nil
}

// fields reads the fields of a struct.
func (p *typeParser) fields(name string, depth int) []describedNode {
	all := []describedNode{{Kind: Struct, Name: name}}
	p.want('{')
	for p.err == nil && !p.take('}') {
		names := []string{p.word()}
		for names[0] != "" && p.take(',') {
			names = append(names, p.word())
		}
		if slices.Contains(names, "") {
			p.fail("got %s, want the name of a field", p.next())
		}
		of := p.typ("", depth+1)
		for _, n := range names {
			if len(all)+len(of) > MaxNodes {
				p.fail("more than %d fields and elements", MaxNodes)
			}
			if p.err != nil {
				return nil
			}
			of[0].Name = n
			all = append(all, of...)
			all[0].Count++
		}
		p.end()
	}
	return all
}

// end reads what ends a field: a semicolon, or a line end, or the brace that follows.
func (p *typeParser) end() {
	p.space(false)
	if p.at < len(p.text) && p.text[p.at] == '\n' || p.take(';') {
		return
	}
	if p.at >= len(p.text) || p.text[p.at] != '}' {
		p.fail(`got %s, want ";" or "}"`, p.next())
	}
}
