package protocol

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/frozen"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The messages, their codes and the capabilities of clients stay as version 1 has them.
func TestFrozen(t *testing.T) {
	var rows []string
	for _, c := range frozen.Constants(t, "auth.go", "") {
		rows = append(rows, fmt.Sprintf("capability %s: %s", c.Text, c.Name))
	}
	for k := range descriptions {
		d := &descriptions[k]
		if d.name == "" {
			continue
		}
		sender := map[side]string{client: "client", server: "server", client | server: "both"}[d.sender]
		if capability := needs[Kind(k)]; capability != "" {
			sender += ", needs " + capability
		}
		rows = append(rows, fmt.Sprintf("message %d: %s, %s: %s", k, d.name, sender, values(d, false)))
	}
	codes := func(sort, unknown string, text func(code uint8) string) {
		for i := range 256 {
			if s := text(uint8(i)); s != fmt.Sprintf("%s %d", unknown, i) {
				rows = append(rows, fmt.Sprintf("%s %d: %s", sort, i, s))
			}
		}
	}
	codes("error", "code", func(c uint8) string { return ErrorCode(c).String() })
	codes("closing", "code", func(c uint8) string { return CloseCode(c).String() })
	codes("reason", "reason", func(c uint8) string { return lockstep.Reason(c).String() })
	frozen.Check(t, "../../testdata/frozen/messages.txt", rows)
}
