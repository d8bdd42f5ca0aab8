//go:build !js

package module

import "bytes"

// A start is what instances begin with.
type start struct {
	image     *image   // of the memory
	pages     uint32   // of the memory
	variables []uint64 // of those that the module can change
}

// begin returns what instances begin with after _initialize, which only the first one runs: the module imports nothing, so
// _initialize does the same in each. It returns nil if each instance has to run it.
func (r *Rules) begin(b *Budget) (*start, error) {
	r.starting.Lock()
	defer r.starting.Unlock()
	if r.started != nil || r.hidden {
		return r.started, nil
	}
	i, err := r.initialized(b)
	if err != nil {
		return nil, err
	}
	defer i.close()
	memory := i.module.Memory()
	all, _ := memory.Read(0, memory.Size())
	if all = bytes.TrimRight(all, "\x00"); len(all) > maxImage {
		r.hidden = true
		return nil, nil
	}
	s := &start{image: newImage(bytes.Clone(all)), pages: memory.Size() / pageBytes}
	for _, v := range r.variables {
		s.variables = append(s.variables, variable(i.module, variableName(v)).Get())
	}
	r.image.close()
	r.started, r.image = s, s.image
	return s, nil
}

// apply lets an instance, which has the image, begin.
func (s *start) apply(i *instance, variables []int) {
	if m := i.module.Memory(); m.Size()/pageBytes < s.pages {
		m.Grow(s.pages - m.Size()/pageBytes)
	}
	for n, v := range variables {
		variable(i.module, variableName(v)).Set(s.variables[n])
	}
}
