package conformance

import (
	"encoding/hex"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// runSchema reads a file with a schema and optionally the canonical bytes of a value. As in
// a replay, a malformed schema and bytes of another schema are invalid.
func runSchema(text []byte) Result {
	lines, err := hexLines(text)
	if err != nil {
		return Result{Verdict: err.Error()}
	}
	facts := map[string]any{}
	invalid := Result{string(replay.ClassInvalid), facts}
	s, err := state.ParseSchema(lines[0].bytes)
	if err != nil || s.Floats() { // floats are for states of other engines, which no schema in a replay describes
		facts["part"] = "schema"
		return invalid
	}
	facts["fingerprint"] = checksum.FormatHash(s.Fingerprint())
	facts["sections"] = s.NumSections()
	for _, l := range lines[1:] {
		if l.label != "value" {
			return Result{Verdict: "unknown label " + l.label}
		}
		if !valueFacts(facts, s, l.bytes) {
			return invalid
		}
	}
	return Result{string(replay.ClassOK), facts}
}

// valueFacts adds the facts of a value and reports whether it has the schema.
func valueFacts(facts map[string]any, s *state.Schema, b []byte) bool {
	var sum checksum.Sum
	err := checksum.OfBytes(&sum, s, b)
	var bad *state.DecodeError
	if errors.As(err, &bad) {
		facts["part"], facts["byte"], facts["path"] = "value", bad.Offset, bad.Path
		return false
	}
	sums := []any{}
	parts, _ := s.Split(nil, b) // OfBytes has accepted b
	for i, p := range parts {
		sums = append(sums, map[string]any{"name": s.SectionName(i), "size": len(p), "sum": checksum.FormatHash(sum.Sections[i])})
	}
	facts["sections"], facts["state_hash"] = sums, checksum.FormatHash(sum.Hash)
	leaves := []any{}
	all, err := s.Leaves(b)
	if err != nil {
		facts["error"] = err.Error()
		return false
	}
	for v := range all {
		leaves = append(leaves, leafFact(v))
	}
	facts["leaves"] = leaves
	return true
}

// leafFact returns a leaf with its value. It ignores the fraction bits of integers.
func leafFact(v state.Value) map[string]any {
	fact := map[string]any{"path": v.Path}
	switch k := v.Node.Kind(); {
	case k == state.Bool:
		fact["bool"] = v.Bytes[0] == 1
	case k == state.String && utf8.Valid(v.Bytes[4:]):
		fact["text"] = string(v.Bytes[4:])
	case k == state.String:
		fact["bytes"] = hex.EncodeToString(v.Bytes[4:])
	default:
		n := uint64(0)
		for i, c := range v.Bytes {
			n |= uint64(c) << (8 * i)
		}
		if shift := 64 - 8*len(v.Bytes); k.Signed() {
			fact["int"] = strconv.FormatInt(int64(n<<shift)>>shift, 10)
		} else {
			fact["int"] = strconv.FormatUint(n, 10)
		}
	}
	return fact
}
