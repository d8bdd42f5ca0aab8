//go:build !js && !wasip1

package determinism_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/kit/determinism"
)

func ExampleVet() {
	found, err := determinism.Vet(determinism.Options{Dir: "../../examples/minimal"}, ".")
	if err != nil {
		panic(err)
	}
	fmt.Println(len(found), "findings")
	// Output:
	// 0 findings
}

func ExampleFinding() {
	f := determinism.Finding{File: "world.go", Line: 12, Column: 3, Rule: "clock", Text: "clock: time.Now: clocks differ between machines; count ticks"}
	fmt.Println(f)
	// Output:
	// world.go:12:3: clock: time.Now: clocks differ between machines; count ticks
}

func ExampleRule() {
	for _, r := range determinism.Rules()[:3] {
		fmt.Printf("%s: %s; %s\n", r.Name, r.Why, r.Instead)
	}
	last := determinism.Rules()[len(determinism.Rules())-1]
	fmt.Println(last.Name)
	// Output:
	// float: floating point rounds differently between machines; use integers or package fixed
	// fixedpoint: native arithmetic ignores the binary point of fixed-point numbers; use the methods of the type: Mul, Div, FromInt
	// statetype: its size, address, order or rounding differs between machines; use sized integers, bools, strings, arrays, slices and structs of them
	// allow
}
