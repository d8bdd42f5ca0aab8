package record

import (
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// ResultJSON returns a result, given in canonical bytes, as one line of JSON by the header's schema. It needs no game. It
// returns "" without a result, or if the bytes are not one.
func (h *Header) ResultJSON(result []byte) string {
	if len(result) == 0 || len(h.ResultSchema) == 0 {
		return ""
	}
	s, err := state.ParseSchema(h.ResultSchema)
	if err != nil || s.Validate(result) != nil {
		return ""
	}
	var text strings.Builder
	if s.DumpJSON(&text, result) != nil {
		return ""
	}
	return strings.TrimSuffix(text.String(), "\n")
}
