//go:build !js

package mutants

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

const loom = `package main

import (
	"fmt"
	"strings"
)

type counter struct{ n int }

// add has names for what it gives.
func (c *counter) add(a, b int, more ...int) (sum int, err error) {
	sum = a + b
	for _, m := range more {
		sum += m
	}
	c.n++
	return sum, nil
}

func (counter) shout(s string) string { return strings.ToUpper(s) }

func (c *counter) reset() { c.n = 0 }

func first[T any](list []T) T { return list[0] }

const limit = 3

func main() {
	c := &counter{}
	sum, _ := c.add(1, 2, 3, 4)
	fmt.Print(sum, " ", c.n, " ")
	c.reset()
	fmt.Println(c.n, c.shout("a"), first([]int{limit}))
}
`

// One program makes each mistake, alone, and none if none is asked for.
func TestWeave(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	var list []woven
	for i, change := range [][2]string{
		{"a + b", "a - b"}, {"c.n++", "c.n--"}, {"strings.ToUpper(s)", "s"}, {"c.n = 0", "c.n = 7"},
		{"list[0]", "list[1]"}, {"limit = 3", "limit = 4"}, // these two cannot be woven
	} {
		list = append(list, woven{&Mutant{Name: change[0], Old: change[0], New: change[1]}, i + 1})
	}
	changed, has, err := weave([]byte(loom), list)
	if err != nil || len(has) != 4 {
		t.Fatalf("%d are woven, want 4: %v", len(has), err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"main.go": changed, "choice.go": choice("main"), "go.mod": []byte("module loom\n\ngo 1.26\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "loom", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, changed)
	}
	for number, want := range map[string]string{"": "10 1 0 A 3", "1": "6 1 0 A 3", "2": "10 -1 0 A 3", "3": "10 1 0 a 3", "4": "10 1 7 A 3", "5": "10 1 0 A 3"} {
		run := exec.Command(filepath.Join(dir, "loom"))
		run.Env = append(os.Environ(), inForce+"="+number)
		if out, err := run.Output(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("number %q: got %q, %v, want %q", number, out, err, want)
		}
	}
}

// Nearly all mistakes of the list can be woven, or a hunt builds for minutes.
func TestWoven(t *testing.T) {
	total := 0
	for _, m := range All() {
		source, err := os.ReadFile(filepath.Join("../../..", m.File))
		if err != nil {
			t.Fatal(err)
		}
		_, has, err := weave(source, []woven{{&m, 1}})
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if len(has) == 0 {
			t.Logf("not woven: %s", m.Name)
		}
		total += len(has)
	}
	if n := len(All()); total < n*9/10 {
		t.Errorf("%d of %d can be woven", total, n)
	}
	if _, _, err := weave([]byte("package\n"), nil); err == nil {
		t.Error("what is not Go is woven")
	}
}
