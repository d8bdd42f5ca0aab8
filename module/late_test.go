//go:build !js

package module

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// A call that answers when its time is over gives no answer: its memory is freed.
func TestLateAnswer(t *testing.T) {
	r, err := Compile(assembly{}.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	late := 0
	for n := 0; n < 100 || late == 0 && n < 100_000; n++ { // on one processor, the time is looked at when the call is interrupted
		i, err := r.New()
		if err != nil {
			t.Fatal(err)
		}
		i.(*caller).instance.time = 1
		b, err := i.Call(abi.Save, []byte("ping"))
		if err != nil {
			late++
		}
		if (err != nil) != (b == nil) {
			t.Errorf("got %d bytes and the error %v, want one of them", len(b), err)
		}
	}
	if late == 0 {
		t.Error("no call was late, want some after a nanosecond")
	}
}
