package protocol

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The codes and reasons of the page are those of the code.
func TestCodesOnPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/spec/live.md")
	if err != nil {
		t.Fatal(err)
	}
	missing := func(page string) (rows []string) {
		for _, part := range []struct {
			title string
			texts []string
		}{{"### error", errorTexts[:]}, {"### closing", closeTexts[:]}} {
			_, after, _ := strings.Cut(page, part.title+"\n")
			table, _, _ := strings.Cut(after, "\n### ")
			for code := 1; code < len(part.texts); code++ {
				if row := fmt.Sprintf("| %d | %s |", code, part.texts[code]); !strings.Contains(table, row) {
					rows = append(rows, part.title+": "+row)
				}
			}
		}
		for reason := lockstep.MatchEnded; reason <= lockstep.TooOften; reason++ {
			if row := fmt.Sprintf("\n| %d | ", reason); !strings.Contains(page, row) {
				rows = append(rows, row)
			}
		}
		return rows
	}
	if got := missing(string(b)); len(got) > 0 {
		t.Errorf("the page has no %q", got)
	}
	if got := missing(""); len(got) != len(errorTexts)-1+len(closeTexts)-1+int(lockstep.TooOften) {
		t.Errorf("control: got %q", got)
	}
}
