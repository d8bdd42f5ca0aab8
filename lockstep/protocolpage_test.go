package lockstep

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// limitRow is a rate in the tables of docs/protocol.md.
var limitRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([\d,]+) \| (\d+) s \| ([\d,]+) \|`)

// pageRates returns the rates of the page by what they are of.
func pageRates(page string) map[string]string {
	found := map[string]string{}
	for _, m := range limitRow.FindAllStringSubmatch(strings.ReplaceAll(page, "`", ""), -1) {
		what, _, _ := strings.Cut(m[1], ":")
		found[what] = fmt.Sprintf("%s in %s s, %s at once", strings.ReplaceAll(m[2], ",", ""), m[3], strings.ReplaceAll(m[4], ",", ""))
	}
	return found
}

// The rates in docs/protocol.md are the defaults.
func TestLimitsOnPage(t *testing.T) {
	page, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	found := pageRates(string(page))
	var o HostOptions
	o.Random = func([]byte) {}
	s := DefaultSettings(2)
	if err := o.complete(&s); err != nil {
		t.Fatal(err)
	}
	r := &o.Rates
	want := map[string]Rate{
		"messages": r.Messages, "bytes": r.Bytes, "commands that are not repeats": r.Commands, "lines of chat": r.Chat,
		"state_sync_request": r.Syncs, "state_sync after a desync": r.Resyncs, "welcomes of a player": r.Returns, "offences": r.Offences,
		"names and lines of chat in the log": r.Notes,
		"names and lines of chat of all players and spectators of a match; accounts that are shared leave half of the burst to others": r.MatchNotes,
	}
	for what, rate := range want {
		text := fmt.Sprintf("%d in %d s, %d at once", rate.N, rate.Per/Second, rate.Burst)
		if got := found[what]; got != text {
			t.Errorf("%s: got %q, want %q", what, got, text)
		}
	}
	if len(found) != len(want) {
		t.Errorf("got %d rates, want %d: %v", len(found), len(want), found)
	}
	for _, row := range []string{
		fmt.Sprintf("| spectators of a match | %d |", o.MaxSpectators), fmt.Sprintf("| connections of a match that are not yet welcome | %d |", o.MaxConnecting),
		fmt.Sprintf("| time until `auth` | %d s |", o.AuthTimeout/Second), fmt.Sprintf("| silence | %d s |", o.IdleTimeout/Second),
		fmt.Sprintf("| grace time of a lost player | %d s |", o.Grace/Second), fmt.Sprintf("| time to read the end | %d s |", o.Linger/Second),
		fmt.Sprintf("| time to acknowledge a `state_sync` | %d s,", o.SyncTimeout/Second), fmt.Sprintf("| lag | %d s of ticks,", uint64(o.Lag)/uint64(s.TickRate)),
		fmt.Sprintf("| syncs because of lag | %d |", o.MaxStrikes), fmt.Sprintf("| time between two keyframes for joiners | %d s |", o.KeyframeInterval/Second),
		fmt.Sprintf("| chunks of a sync | %d KiB in the time of a tick |", o.SyncBytesPerTick>>10), fmt.Sprintf("| commands of a player in one tick | %d,", o.MaxPerTick),
		fmt.Sprintf("| sequences ahead of the highest decided one | %d |", window), fmt.Sprintf("| checked ticks that can be reported on | %d |", checkWindow),
		fmt.Sprintf("| payload of a command | %d KiB |", MaxPayload>>10), fmt.Sprintf("| private messages that wait for a connection | %d KiB |", (maxPrivate-roomClosing)>>10),
		fmt.Sprintf("| bytes of names and chat in the log, and 16 for each | %d MiB |", o.MaxNoteBytes>>20),
		fmt.Sprintf("| ring | 4 × lag + %d records, %d MiB;", o.RingRecords-4*int(o.Lag), o.RingBytes>>20),
		fmt.Sprintf("| %d MiB at once and %d KiB in %d s,", r.Keyframes.Burst>>20, r.Keyframes.N>>10, r.Keyframes.Per/Second), fmt.Sprintf("| %d times that |", matchCrowd),
		fmt.Sprintf("| those of %d checks at once,", r.Retrials.Burst/int(s.CheckEvery)),
		fmt.Sprintf("| state asked of a client | %d MiB, %d s |", o.MaxEvidence>>20, inquiryTimeout/Second),
	} {
		if !strings.Contains(string(page), row) {
			t.Errorf("the page does not say %q", row)
		}
	}
	if got := pageRates("| x: y | 1,000 | 2 s | 30 | z |"); got["x"] != "1000 in 2 s, 30 at once" {
		t.Errorf("control: got %v", got)
	}
}

// The codes and reasons of the page are those of the code.
func TestCodesOnPage(t *testing.T) {
	b, err := os.ReadFile("../docs/protocol.md")
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
		for reason := MatchEnded; reason <= RateLimited; reason++ {
			if row := fmt.Sprintf("\n| %d | ", reason); !strings.Contains(page, row) {
				rows = append(rows, row)
			}
		}
		return rows
	}
	if got := missing(string(b)); len(got) > 0 {
		t.Errorf("the page has no %q", got)
	}
	if got := missing(""); len(got) != len(errorTexts)-1+len(closeTexts)-1+int(RateLimited) {
		t.Errorf("control: got %q", got)
	}
}
