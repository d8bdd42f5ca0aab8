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

func main() {
	c := &counter{}
	sum, _ := c.add(1, 2, 3, 4)
	fmt.Print(sum, " ", c.n, " ")
	c.reset()
	fmt.Println(c.n, c.shout("a"))
}
`

// One program makes each mistake alone, and none without a selected mutant.
func TestWeave(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	f, err := newFile("main.go", []byte(loom))
	if err != nil {
		t.Fatal(err)
	}
	e := engine{packages: map[string][]*file{"loom": {f}}}
	var list []*place
	for i, m := range []Mutant{
		{Func: "loom.(*counter).add", Rule: "a + b -> a - b"},
		{Func: "loom.(*counter).add", Rule: "a++ -> a--"},
		{Func: "loom.counter.shout", Rule: "strings.ToUpper(s) -> s"},
		{Func: "loom.(*counter).reset", Rule: "0 -> 7"},
	} {
		p, err := e.place(&m)
		if err != nil {
			t.Fatal(err)
		}
		p.number = i + 1
		list = append(list, p)
	}
	changed := weave(f, list)
	dir := t.TempDir()
	for name, content := range map[string][]byte{"main.go": changed, "choice.go": choice("main"), "go.mod": []byte("module loom\n\ngo 1.26\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-ldflags=-w", "-o", "loom", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, changed)
	}
	for number, want := range map[string]string{"": "10 1 0 A", "1": "6 1 0 A", "2": "10 -1 0 A", "3": "10 1 0 a", "4": "10 1 7 A", "5": "10 1 0 A"} {
		run := exec.Command(filepath.Join(dir, "loom"))
		run.Env = append(os.Environ(), inForce+"="+number)
		if out, err := run.Output(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("number %q: got %q, %v, want %q", number, out, err, want)
		}
	}
}
