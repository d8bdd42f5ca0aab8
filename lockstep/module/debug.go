//go:build !js

package module

import (
	"debug/dwarf"
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

// sources returns where the functions of a module begin, by their numbers, as far as the module has that for debuggers. What cannot
// be read is left out: it says nothing about how the module runs.
func sources(module []byte) map[int]source {
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
		return nil
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} { // of version 5
		if err := d.AddSection(debugPrefix+name, parts[name]); err != nil {
			return nil
		}
	}
	return places(d, bodies(code))
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

// places returns where the functions begin that end at some places of the code.
func places(d *dwarf.Data, ends []int) map[int]source {
	found := map[int]source{}
	var files []*dwarf.LineFile
	for r := d.Reader(); ; {
		e, err := r.Next()
		if e == nil || err != nil {
			return found
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			files = nil
			if lines, err := d.LineReader(e); err == nil && lines != nil {
				files = lines.Files()
			}
		case dwarf.TagSubprogram:
			at, ok := e.Val(dwarf.AttrLowpc).(uint64)
			line, _ := e.Val(dwarf.AttrDeclLine).(int64)
			file, _ := e.Val(dwarf.AttrDeclFile).(int64)
			n, _ := slices.BinarySearch(ends, int(min(at, MaxBytes))+1)
			if ok && n < len(ends) && file >= 0 && file < int64(len(files)) && files[file] != nil {
				found[n] = source{path.Base(strings.ReplaceAll(files[file].Name, `\`, "/")), int(line)}
			}
			r.SkipChildren()
		}
	}
}
