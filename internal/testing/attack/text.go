package attack

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
)

// Header is above the results for people.
const Header = `             tries  lost  refused  checksums  late p99 (calm)     newcomer    processor    memory      out       in  replay`

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) {
	if r.Skipped != "" {
		fmt.Fprintf(w, "%2d %-9s  skipped: %s\n", r.Row, r.Name, r.Skipped)
		return
	}
	cpu, memory := "?", "?"
	if r.CPUKnown {
		cpu, memory = fmt.Sprintf("%+.0f %%", r.CPU-r.CalmCPU), "+"+words.Size(r.Memory)
	}
	fmt.Fprintf(w, "%2d %-9s %6d  %4d  %7d  %9s  %5.1f ms (%5.1f)  %8.0f ms  %9s  %9s %8s %8s %8s\n", r.Row, r.Name, r.Tries, len(r.Disconnected), r.Refused+len(r.NewcomersRefused),
		fmt.Sprintf("%d/%d", r.Checksums, r.Expected), r.AttackP99MS, r.CalmP99MS, r.WelcomeMS, cpu, memory, words.Size(r.Received), words.Size(r.Sent), words.Size(r.Written))
	var told []string
	for _, event := range slices.Sorted(maps.Keys(r.Told)) {
		told = append(told, fmt.Sprintf("%s %d", event, r.Told[event]))
	}
	fmt.Fprintf(w, "   %s: %s\n", r.About, strings.Join(told, ", "))
	for _, f := range r.Failures {
		fmt.Fprintf(w, "   FAILED: %s\n", f)
	}
}

// WriteVerdict writes the last line, below the results.
func WriteVerdict(w io.Writer, all []*Result) {
	failed, skipped := 0, 0
	for _, r := range all {
		if len(r.Failures) > 0 {
			failed++
		}
		if r.Skipped != "" {
			skipped++
		}
	}
	fmt.Fprintf(w, "verdict: %s, %d failed, %d skipped\n", words.Count(len(all), "attack"), failed, skipped)
}
