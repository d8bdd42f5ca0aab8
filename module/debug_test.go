//go:build !js

package module

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

const debugSource = `
struct { int a[3]; } world;
typedef short count;
count many[5][7];
int samestep_buffer(int n) { static int calls; return world.a[calls++ % 3] + n; }

long long samestep_call(int f, int n) { return many[f][n]++; }
`

// What a module of C tells debuggers, in two versions of the format. A spoiled one is no fault.
func TestDebugged(t *testing.T) {
	for _, tool := range []string{"clang", "wasm-ld"} {
		_, err := exec.LookPath(tool)
		testenv.Or(t, tool, err)
	}
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		dir := t.TempDir()
		source, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.wasm")
		if err := os.WriteFile(source, []byte(debugSource), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.CommandContext(t.Context(), "clang", version, "-O1", "--target=wasm32", "-nostdlib", "-Wl,--no-entry", "-Wl,--export-all", "-o", out, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		all := readDebugged(b)
		var lines []int
		for _, s := range all.functions {
			if s.file == "a.c" {
				lines = append(lines, s.line)
			}
		}
		slices.Sort(lines)
		sizes := map[string]int{}
		for _, v := range all.variables {
			sizes[v.Name] = v.Size
		}
		if !slices.Equal(lines, []int{5, 7}) || sizes["world"] != 12 || sizes["many"] != 70 || sizes["calls"] != 4 {
			t.Errorf("%s: got lines %v and variables %v", version, lines, all.variables)
		}
		for i := len(magic); i < len(b); i++ {
			spoiled := slices.Clone(b)
			spoiled[i] ^= 0xff
			readDebugged(spoiled)
			readDebugged(b[:i])
		}
	}
}
