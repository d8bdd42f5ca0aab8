package module

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// missing returns the rows of limits that a page does not have.
func missing(page string) (rows []string) {
	for _, row := range []string{
		fmt.Sprintf("| the module | %d MiB |", MaxBytes>>20),
		fmt.Sprintf("| the memory of an instance | %d GiB |", MaxMemory>>30),
		fmt.Sprintf("| an answer | %d MiB |", MaxAnswer>>20),
		fmt.Sprintf("| the description | %d MiB |", abi.MaxDescription>>20),
		fmt.Sprintf("| a call, unless the host sets another number | %d million passes |", DefaultPasses/1_000_000),
		fmt.Sprintf("| a call, unless the host sets another time | %.0f s |", DefaultTime.Seconds()),
	} {
		if !strings.Contains(page, "\n"+row+"\n") {
			rows = append(rows, row)
		}
	}
	return rows
}

// The page for authors has the limits of this package.
func TestLimitsOnPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/rules-abi.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range missing(string(b)) {
		t.Errorf("the page has no row %s", row)
	}
	if got := missing(strings.Replace(string(b), "| 64 MiB |", "| 63 MiB |", 1)); len(got) != 1 {
		t.Errorf("control: a wrong limit gives %q", got)
	}
}
