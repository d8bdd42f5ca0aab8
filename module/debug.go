//go:build !js

package module

import (
	"debug/dwarf"
	"encoding/binary"
	"path"
	"slices"
	"strings"
)

// A source is the place of a function in the sources.
type source struct {
	file string
	line int
}

// debugPrefix begins the names of the custom sections for debuggers.
const debugPrefix = ".debug_"

// A Variable is one at a fixed address in the memory.
type Variable struct {
	Name     string
	At, Size int // bytes
}

// debugged is what a module tells debuggers.
type debugged struct {
	functions map[int]source // by their numbers
	variables []Variable
}

// readDebugged reads what a module tells debuggers. What cannot be read is left out: it says nothing about how the module runs.
func readDebugged(module []byte) (all debugged) {
	parts := map[string][]byte{}
	r := &reader{rest: module[len(magic):]}
	var code []byte
	for len(r.rest) > 0 {
		id := r.byte()
		body := &reader{rest: r.bytes(r.number())}
		switch id {
		case sectionCode:
			code = body.rest
		case sectionCustom:
			if name := string(body.bytes(body.number())); strings.HasPrefix(name, debugPrefix) {
				parts[strings.TrimPrefix(name, debugPrefix)] = body.rest
			}
		}
	}
	d, err := dwarf.New(parts["abbrev"], nil, nil, parts["info"], parts["line"], nil, parts["ranges"], parts["str"])
	if err != nil {
		return all
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} { // of version 5
		if err := d.AddSection(debugPrefix+name, parts[name]); err != nil {
			return all
		}
	}
	all.functions = map[int]source{}
	all.read(d, parts, bodies(code))
	return all
}

// bodies returns where the functions end in the section with the code.
func bodies(code []byte) (ends []int) {
	r := &reader{rest: code}
	for n := r.number(); n > 0 && r.err == nil; n-- {
		r.bytes(r.number())
		ends = append(ends, len(code)-len(r.rest))
	}
	return ends
}

// read reads the functions, which end at some places of the code, and the variables. There are at most as many entries as bytes: a
// reader of malformed ones may not come to an end.
func (all *debugged) read(d *dwarf.Data, parts map[string][]byte, ends []int) {
	var files []*dwarf.LineFile
	var addresses []byte // of a unit
	r := d.Reader()
	for range len(parts["info"]) {
		e, err := r.Next()
		if e == nil || err != nil {
			return
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			base, _ := e.Val(dwarf.AttrAddrBase).(int64)
			files, addresses = nil, parts["addr"][min(max(base, 0), int64(len(parts["addr"]))):]
			if lines, err := d.LineReader(e); err == nil && lines != nil {
				files = lines.Files()
			}
		case dwarf.TagSubprogram:
			at, ok := e.Val(dwarf.AttrLowpc).(uint64)
			line, _ := e.Val(dwarf.AttrDeclLine).(int64)
			file, _ := e.Val(dwarf.AttrDeclFile).(int64)
			n, _ := slices.BinarySearch(ends, int(min(at, MaxBytes))+1)
			if ok && n < len(ends) && file >= 0 && file < int64(len(files)) && files[file] != nil {
				all.functions[n] = source{path.Base(strings.ReplaceAll(files[file].Name, `\`, "/")), int(line)}
			}
		case dwarf.TagVariable:
			all.variable(d, e, addresses)
		}
	}
}

// variable adds a variable that is at an address, or at one of the unit's list.
func (all *debugged) variable(d *dwarf.Data, e *dwarf.Entry, addresses []byte) {
	const address, addressInList = 3, 0xa1 // expressions
	name, _ := e.Val(dwarf.AttrName).(string)
	place, _ := e.Val(dwarf.AttrLocation).([]byte)
	of, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if name == "" || !ok || len(place) < 2 {
		return
	}
	at := place[1:]
	if r := (&reader{rest: at}); place[0] == addressInList {
		at = addresses[min(4*r.number(), len(addresses)):]
	} else if place[0] != address {
		return
	}
	if len(at) < 4 {
		return
	}
	if size := sizeOf(d, of, maxNested); size > 0 && size <= MaxMemory {
		all.variables = append(all.variables, Variable{name, int(binary.LittleEndian.Uint32(at)), int(size)})
	}
}

// maxNested is how many types that refer to each other are followed.
const maxNested = 16

// sizeOf returns the size of a type, or 0 if it is not known. Package dwarf has that, but follows a type that refers to itself forever.
func sizeOf(d *dwarf.Data, of dwarf.Offset, nested int) int64 {
	r := d.Reader()
	r.Seek(of)
	e, err := r.Next()
	if e == nil || err != nil || nested == 0 {
		return 0
	}
	if size, ok := e.Val(dwarf.AttrByteSize).(int64); ok {
		return size
	}
	inner, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return 0
	}
	size := sizeOf(d, inner, nested-1)
	for e.Tag == dwarf.TagArrayType && size > 0 {
		n, err := r.Next()
		if n == nil || err != nil || n.Tag != dwarf.TagSubrangeType {
			break
		}
		count, _ := n.Val(dwarf.AttrCount).(int64)
		if size = size * count; size < 0 || size > MaxMemory || count > MaxMemory {
			return 0
		}
	}
	return size
}
