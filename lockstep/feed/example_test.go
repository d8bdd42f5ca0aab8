package feed_test

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/state"
)

// A sender makes a difference to what the receiver has. The receiver knows the views by the description of the plan alone.
func Example() {
	type ship struct {
		ID uint16  `feed:"id"`
		X  fixed.Q `feed:"quantize=1/16"`
	}
	type sea struct{ Ships []ship }
	codec := state.MustCompile[sea]()
	var plan *feed.Plan
	plan, err := feed.NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[sea](), "feed"))
	if err != nil {
		fmt.Println(err)
		return
	}
	described, err := feed.ParsePlan(plan.AppendDescription(nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	var (
		sender   *feed.Sender   = feed.NewSender(plan)
		receiver *feed.Receiver = feed.NewReceiver(described)
		last     feed.Number
	)
	for _, v := range []sea{
		{Ships: []ship{{7, fixed.One}, {9, 5 * fixed.One}}},
		{Ships: []ship{{7, 2 * fixed.One}, {9, 5 * fixed.One}}},
		{Ships: []ship{{9, 5 * fixed.One}}},
	} {
		if err := sender.Set(codec.Append(nil, &v), 0); err != nil {
			fmt.Println(err)
			return
		}
		base, delta := sender.Delta(last)
		if err := receiver.Apply(sender.Number(), base, delta); err != nil {
			fmt.Println(err)
			return
		}
		last = receiver.Number()
		var got sea
		if err := codec.Decode(receiver.AppendView(nil), &got); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("view %d from %d, %x: %v\n", last, base, delta, got.Ships)
	}
	var bad *feed.DeltaError
	if err := receiver.Apply(4, 3, []byte{9}); errors.As(err, &bad) {
		fmt.Println(err)
	}
	// Output:
	// view 1 from 0, 000000020702200102a001: [{7 1} {9 5}]
	// view 2 from 1, 00010002200000: [{7 2} {9 5}]
	// view 3 from 2, 0000010000: [{9 5}]
	// feed: byte 0 of a delta: a mask of columns: got 9, want at most 0
}

// A type that cannot be sent is refused by its field.
func ExamplePlanError() {
	type view struct{ Name string }
	_, err := feed.NewPlan(state.MustCompile[view]().Schema(), state.Tags(reflect.TypeFor[view](), "feed"))
	var refused *feed.PlanError
	if errors.As(err, &refused) {
		fmt.Println(refused.Path)
	}
	// Output: Name
}
