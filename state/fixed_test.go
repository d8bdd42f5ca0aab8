package state_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/state"
)

// TestFixedTypes has every type of package fixed that a state may hold, and prints it as fixed prints it.
func TestFixedTypes(t *testing.T) {
	type numbers struct {
		Q    fixed.Q
		Turn fixed.Turn
		At   fixed.Vec2
		To   fixed.Vec3
		Rand fixed.Rand
	}
	c, err := state.Compile[numbers]()
	if err != nil {
		t.Fatal(err)
	}
	v := numbers{Q: -3 << 30, Turn: 1 << 29, At: fixed.Vec2{X: 1, Y: 5 << 31}, To: fixed.Vec3{Z: 1 << 62}, Rand: fixed.NewRand(7)}
	b := c.Append(nil, &v)
	var got numbers
	if err := c.Decode(b, &got); err != nil || got != v {
		t.Errorf("%+v, error %v, want %+v", got, err, v)
	}
	for path, want := range map[string]string{
		"Q": "-0.75", "Turn": "0.125", "At.X": "0.0000000002", "At.Y": "2.5", "To.Z": "1073741824",
	} {
		if value, err := c.Schema().Lookup(b, path); err != nil || value.String() != want {
			t.Errorf("%s: %v, error %v, want %s", path, value, err, want)
		}
	}
	if value, err := c.Schema().Lookup(b, "At.X"); err != nil || value.String() != v.At.X.String() {
		t.Errorf("At.X: %v, error %v, while fixed prints %v", value, err, v.At.X)
	}
}
