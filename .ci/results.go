//go:build ignore

// Results reads the output of go test -json, prints what failed and why tests
// were skipped, and last, alone on a line, how many tests passed, failed and
// were skipped. A package that fails without a failed test counts as one.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// An event is one line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// A key is a test, or a package if Test is empty.
type key struct{ Package, Test string }

// results is what is known so far.
type results struct {
	output                  map[key][]string
	failedIn                map[string]int // failed tests by package
	passed, failed, skipped int
}

func main() {
	r := results{output: map[key][]string{}, failedIn: map[string]int{}}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil:
			fmt.Printf("%s", line) // of the go command itself
		default:
			r.take(e)
		}
		if err != nil {
			break
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
}

func (r *results) take(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Print(e.Output)
	case "output":
		r.output[k] = append(r.output[k], e.Output)
	case "pass":
		if e.Test != "" {
			r.passed++
		}
		delete(r.output, k)
	case "skip":
		if e.Test != "" {
			r.skipped++
			r.print(k)
		}
		delete(r.output, k)
	case "fail":
		if e.Test == "" && r.failedIn[e.Package] > 0 {
			return
		}
		r.failed++
		r.failedIn[e.Package]++
		r.print(k)
		if e.Test == "" {
			r.printOpen(e.Package)
		}
	}
}

// print prints what a test said, without the lines that only tell its progress.
func (r *results) print(k key) {
	for _, line := range r.output[k] {
		if !strings.HasPrefix(line, "=== ") {
			fmt.Print(line)
		}
	}
	delete(r.output, k)
}

// printOpen prints the output of the tests that a failed package never ended.
func (r *results) printOpen(name string) {
	var open []key
	for k := range r.output {
		if k.Package == name {
			open = append(open, k)
		}
	}
	slices.SortFunc(open, func(a, b key) int { return strings.Compare(a.Test, b.Test) })
	for _, k := range open {
		r.print(k)
	}
}
