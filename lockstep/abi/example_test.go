package abi_test

import (
	"encoding/json"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// The statuses of the answers of a module, and the names of its functions.
func ExampleStatus() {
	for s := abi.OK; s <= abi.Panicked; s++ {
		fmt.Print(uint8(s), " ")
	}
	fmt.Println(abi.Step, abi.Create, abi.Function(99))
	// Output: 0 1 2 Step New function 99
}

// A description is JSON. A type is the text of a struct, or the bytes of a schema in hexadecimal digits.
func ExampleDescription() {
	d, err := abi.ParseDescription([]byte(`{
		"abi": 1, "game": "tally", "build": "1",
		"state": "struct { Total uint32 }",
		"config": "struct {}",
		"commands": [{"kind": 1, "name": "add", "payload": "struct { N uint32 }"}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var add abi.Kind = d.Commands[0]
	again, _ := json.Marshal(d.State)
	fmt.Println(d.Game, add.Name, add.Payload.NumSections(), len(again) > 0)
	_, err = abi.ParseDescription([]byte(`{"abi": 2}`))
	fmt.Println(err)
	_, err = abi.ParseDescription([]byte(`{"abi": 1, "comands": []}`))
	fmt.Println(err)
	// Output:
	// tally add 1 true
	// these rules need a newer samestep: got version 2 of docs/spec/abi.md, want 1
	// description: json: unknown field "comands"
}
