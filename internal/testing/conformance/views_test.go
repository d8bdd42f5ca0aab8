package conformance

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/feed"
)

// A viewTag is a tag of a plan.
type viewTag struct {
	path string
	id   byte
	step int8
}

// planOf returns the bytes of a plan.
func planOf(schema []byte, tags ...viewTag) string {
	b := append(binary.AppendUvarint(nil, uint64(len(schema))), schema...)
	b = binary.AppendUvarint(b, uint64(len(tags)))
	for _, t := range tags {
		b = append(append(binary.AppendUvarint(b, uint64(len(t.path))), t.path...), t.id, byte(t.step))
	}
	return hex.EncodeToString(b)
}

// views are plans and deltas. Each delta is against the view of the one before, the first against zeros.
func views() []Built {
	const exact = -128
	c := func(id, verdict, about, plan string, deltas string, rules ...string) Built {
		text := fmt.Sprintf("# %s\nplan: %s\n", about, plan)
		for _, d := range strings.FieldsFunc(deltas, func(c rune) bool { return c == '/' }) {
			text += "delta: " + strings.ReplaceAll(d, " ", "") + "\n"
		}
		return Built{Case{ID: id, Kind: "view", File: "view/" + id + ".hex", Rules: rules, Verdict: verdict, About: about}, []byte(text)}
	}
	shipID := viewTag{"Ships[].ID", 1, exact}
	seaSchema := func(id byte) []byte {
		return describe(root(1), leaf(tSlice, "Ships"), root(2), leaf(id, "ID"), node{tInt64, 32, 0, "X"})
	}
	sea := planOf(seaSchema(tUint16), shipID, viewTag{"Ships[].X", 0, -4})
	signed := planOf(seaSchema(tInt8), shipID)
	large := planOf(seaSchema(tUint64), shipID)
	plain := planOf(describe(root(4), leaf(tBool, "Fog"), leaf(tInt8, "Turn"), node{tArray, 0, 3, "Bank"}, leaf(tUint8, ""), leaf(tSlice, "Log"), leaf(tInt16, "")))
	ok := func(id, about, plan, deltas string, rules ...string) Built {
		return c(id, "ok", about, plan, deltas, rules...)
	}
	bad := func(id, about, plan, deltas string, rules ...string) Built {
		return c(id, "malformed", about, plan, deltas, rules...)
	}
	const two = "00 00 00 02 07 02 20 01 02 a001 / " // ships 7 and 9
	wide := []node{root(65)}
	for i := range 65 {
		wide = append(wide, leaf(tBool, fmt.Sprintf("N%d", i)))
	}
	return []Built{
		ok("view-ships", "The views of the page.", sea, two+"00 01 00 02 20 00 00 / 00 00 01 00 00", "V-plan", "V-delta", "V-rows", "V-row", "V-added", "V-removed"),
		ok("view-zeros", "A view of zeros.", plain, "00 00 00 00", "V-delta", "V-row"),
		ok("view-plain", "A bool, a negative number, an array and a slice without ids.", plain, "03 03 02 00 01 04 01 01 06 02 01 01 01 01 / 01 00 01 00 / 00 01 01 01 02 02 00", "V-delta", "V-rows", "V-row"),
		ok("view-changed-removed", "A row changes, another is removed, and a third is added between.", sea, two+"00 01 01 02 02 01 00 01 08 02 02", "V-rows", "V-added", "V-removed"),
		ok("view-id-zero", "An element with the id 0 and no other number.", sea, "00 00 00 01 00 00", "V-added", "V-rows"),
		ok("view-id-last", "The largest id of 16 bits.", sea, "00 00 00 01 ffff03 00", "V-added"),
		ok("view-no-tags", "A plan without tags.", planOf(describe(root(1), leaf(tUint8, "A"))), "01 02", "V-plan"),
		ok("view-tag-below", "A tag of an array of numbers.", planOf(describe(root(1), leaf(tSlice, "U"), root(1), node{tArray, 0, 2, "Pos"}, leaf(tInt32, "")), viewTag{"U[].Pos", 0, 3}), "00 01 01 00 03 02 01", "V-tag"),
		bad("view-plan-cut", "A plan ends inside a tag.", sea[:len(sea)-2], "", "V-plan"),
		bad("view-plan-trailing", "A byte stands after a plan.", sea+"00", "", "V-plan"),
		bad("view-plan-long", "The length of a path is not in its shortest form.", strings.Replace(sea, "0a"+hex.EncodeToString([]byte("Ships[].ID")), "8a00"+hex.EncodeToString([]byte("Ships[].ID")), 1), "", "V-plan"),
		bad("view-plan-id", "The first byte of a tag is 2.", planOf(seaSchema(tUint16), viewTag{"Ships[].ID", 2, exact}), "", "V-plan"),
		bad("view-string", "A view with a string.", planOf(describe(root(1), leaf(tString, "A"))), "", "V-schema"),
		bad("view-nested", "An element with a list.", planOf(describe(root(1), leaf(tSlice, "A"), root(1), leaf(tSlice, "B"), leaf(tBool, ""))), "", "V-schema"),
		bad("view-wide", "A row of 65 numbers.", planOf(describe(wide...)), "", "V-schema"),
		bad("view-tag-nothing", "A tag of a field that is not there.", planOf(seaSchema(tUint16), viewTag{"Ships[].Y", 0, exact}), "", "V-tag"),
		bad("view-tag-two-ids", "Two ids of a list.", planOf(seaSchema(tUint16), shipID, viewTag{"Ships[].X", 1, exact}), "", "V-tag"),
		bad("view-tag-id-rounded", "An id that is rounded.", planOf(seaSchema(tUint16), viewTag{"Ships[].ID", 1, 1}), "", "V-tag"),
		bad("view-tag-id-array", "An id of an array.", planOf(describe(root(1), node{tArray, 0, 2, "A"}, root(1), leaf(tUint8, "ID")), viewTag{"A[].ID", 1, exact}), "", "V-tag"),
		bad("view-tag-bool", "A bool that is rounded.", planOf(describe(root(1), leaf(tBool, "A")), viewTag{"A", 0, 1}), "", "V-tag"),
		bad("view-tag-fine", "A step finer than the number.", planOf(seaSchema(tUint16), viewTag{"Ships[].X", 0, -33}), "", "V-tag"),
		bad("view-tag-coarse", "A step of all bits of a number.", planOf(describe(root(1), leaf(tUint8, "A")), viewTag{"A", 0, 8}), "", "V-tag"),
		bad("view-cut", "A delta ends inside a row.", sea, "00 00 00 01 07 02", "V-delta"),
		bad("view-trailing", "A byte stands after a delta.", sea, "00 00 00 00 00", "V-delta"),
		bad("view-long-number", "A number is not in its shortest form.", sea, "8000 00 00 00", "V-rows"),
		bad("view-huge-number", "A number of 2^64.", sea, "00 80808080808080808002 00 00", "V-rows"),
		bad("view-beyond", "A changed row that the list does not have.", sea, two+"00 01 02 02 20 00 00", "V-rows"),
		bad("view-many", "More changed rows than the list has.", sea, two+"00 03 00 02 20 00 02 20 00 02 20 00 00", "V-rows"),
		bad("view-mask", "The mask has a bit of no number.", sea, "00 00 00 01 07 04 02", "V-row"),
		bad("view-mask-zero", "A changed row without a difference.", sea, two+"00 01 00 00 00 00", "V-row"),
		bad("view-difference-zero", "A difference of 0.", sea, two+"00 01 00 02 00 00 00", "V-row"),
		bad("view-overflow", "A number that does not fit its type.", plain, "02 8002 00 00 00", "V-row"),
		bad("view-added-again", "An added id is in the list.", sea, two+"00 00 00 01 07 02 20", "V-added"),
		bad("view-removed-added", "An id is removed and added.", sea, two+"00 00 01 00 01 07 02 20", "V-added"),
		bad("view-added-mask", "The mask of an added row has its id.", sea, "00 00 00 01 07 01 02", "V-added"),
		bad("view-id-large", "An id that does not fit its type.", sea, "00 00 00 01 808004 00", "V-added"),
		ok("view-id-largest", "The largest id of 64 bits.", large, "00 00 00 01 ffffffffffffffffff01 00", "V-added"),
		ok("view-signed", "The ids -1, 0 and 1.", signed, "00 00 00 03 01 00 00 00 00 00", "V-rows"),
		bad("view-signed-large", "A signed id that does not fit its type.", signed, "00 00 00 01 8002 00", "V-rows"),
		bad("view-changed-and-removed", "A row is changed and removed.", sea, two+"00 01 00 02 20 01 00 00", "V-removed"),
		bad("view-large", "A slice longer than 8 MiB.", plain, "00 00 81808002", "V-large"),
	}
}

// runView reads a file with a plan and deltas, and returns the last view.
func runView(text []byte) Result {
	lines, err := hexLines(text)
	if err != nil || len(lines) == 0 || lines[0].label != "plan" {
		return Result{Verdict: fmt.Sprintf("no plan: %v", err)}
	}
	plan, err := feed.ParsePlan(lines[0].bytes)
	if err != nil {
		return Result{"malformed", map[string]any{"part": "plan"}}
	}
	r := feed.NewReceiver(plan)
	for i, l := range lines[1:] {
		if err := r.Apply(feed.Number(i+1), feed.Number(i), l.bytes); err != nil {
			return Result{"malformed", map[string]any{"part": "delta", "delta": i + 1}}
		}
	}
	return Result{"ok", map[string]any{"view": hex.EncodeToString(r.AppendView(nil))}}
}
