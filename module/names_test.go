//go:build !js

package module

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// names returns the section with the names of functions, in their order.
func names(all ...string) []byte {
	list := binary.AppendUvarint(nil, uint64(len(all)))
	for i, name := range all {
		list = appendSized(binary.AppendUvarint(list, uint64(i)), []byte(name))
	}
	return appendSized([]byte{sectionCustom}, appendSized(append(appendSized(nil, []byte("name")), 1), list))
}

// A long name is cut off, and costs the other functions nothing.
func TestLongName(t *testing.T) {
	r, err := Compile(assembly{
		call: join([]byte{opCall, 3}, i64(0)), more: [][]byte{{opUnreachable}},
		sections: names("samestep_buffer", "outer", strings.Repeat("ä", 2000), "inner"),
	}.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.New()
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.Call(abi.Save, nil)
	if f := (*abi.Fault)(nil); !errors.As(err, &f) || !strings.Contains(f.Stack, ".inner()") || !strings.Contains(f.Stack, ".outer(") {
		t.Errorf("got %#v, want a stack with inner and outer", err)
	}
}
