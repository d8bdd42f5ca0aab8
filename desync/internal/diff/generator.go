package diff

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/state"
)

// maxStreams is the maximum number of generators that are compared.
const maxStreams = 32

// StreamPaths returns the paths of the generators that are in no list, and of those in lists that differ.
func StreamPaths(s *state.Schema, differ []state.Difference) []string {
	var paths []string
	var walk func(n state.Node, path string)
	walk = func(n state.Node, path string) {
		if len(paths) == maxStreams || n.Kind() != state.Struct {
			return
		}
		if isGenerator(n) {
			paths = append(paths, path)
			return
		}
		for i := range n.NumFields() {
			f := n.Field(i)
			walk(f, strings.TrimPrefix(path+"."+f.Name(), "."))
		}
	}
	walk(s.Root(), "")
	for _, d := range differ {
		for _, end := range []string{".Hi", ".Lo"} {
			if p, ok := strings.CutSuffix(d.Path, end); ok && len(paths) < maxStreams && !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	return paths
}

func isGenerator(n state.Node) bool {
	if n.NumFields() != 2 {
		return false
	}
	hi, lo := n.Field(0), n.Field(1)
	return hi.Name() == "Hi" && lo.Name() == "Lo" && hi.Kind() == state.Uint64 && lo.Kind() == state.Uint64
}

// Generator reads the generator that w watches.
func (w *Watcher) Generator(b []byte) (r fixed.Rand, offset int, ok bool) {
	v, ok := w.Value(b)
	if !ok || v.Node.Kind() != state.Struct || !isGenerator(v.Node) {
		return r, 0, false
	}
	return fixed.Rand{Hi: binary.LittleEndian.Uint64(v.Bytes), Lo: binary.LittleEndian.Uint64(v.Bytes[8:])}, v.Offset, true
}

// Draws counts draws.
func Draws(n uint64) string {
	if n == 1 {
		return "1 draw"
	}
	return fmt.Sprintf("%d draws", n)
}
