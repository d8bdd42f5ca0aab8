package host

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// limitRow is a rate in the tables of docs/protocol.md.
var limitRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([\d,]+) \| (\d+) s \| ([\d,]+) \|`)

// pageRates returns the rates of the page by name.
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
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	found := pageRates(string(page))
	var o Options
	o.Random = func([]byte) {}
	s := lockstep.DefaultSettings(2)
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
		text := fmt.Sprintf("%d in %d s, %d at once", rate.N, rate.Per/lockstep.Second, rate.Burst)
		if got := found[what]; got != text {
			t.Errorf("%s: got %q, want %q", what, got, text)
		}
	}
	if len(found) != len(want) {
		t.Errorf("got %d rates, want %d: %v", len(found), len(want), found)
	}
	for _, row := range []string{
		fmt.Sprintf("| spectators of a match | %d |", o.MaxSpectators), fmt.Sprintf("| connections of a match that are not yet welcome | %d |", o.MaxConnecting),
		fmt.Sprintf("| time until `auth` | %d s |", o.AuthTimeout/lockstep.Second), fmt.Sprintf("| silence | %d s |", o.IdleTimeout/lockstep.Second),
		fmt.Sprintf("| grace time of a lost player | %d s |", o.Grace/lockstep.Second), fmt.Sprintf("| time to read the end | %d s |", o.Linger/lockstep.Second),
		fmt.Sprintf("| time to read an end by the rules, or to come back for it | %d s |", o.EndLinger/lockstep.Second),
		fmt.Sprintf("| time to acknowledge a `state_sync` | %d s,", o.SyncTimeout/lockstep.Second), fmt.Sprintf("| lag | %d s of ticks,", uint64(o.Lag)/uint64(s.TickRate())),
		fmt.Sprintf("| syncs because of lag | %d |", o.MaxStrikes), fmt.Sprintf("| time between two keyframes for joiners | %d s |", o.KeyframeInterval/lockstep.Second),
		fmt.Sprintf("| chunks of a sync | %d KiB in the time of a tick |", o.SyncBytesPerTick>>10), fmt.Sprintf("| commands of a player in one tick | %d,", o.MaxPerTick),
		fmt.Sprintf("| sequences ahead of the highest decided one | %d |", record.CommandWindow), fmt.Sprintf("| checked ticks that can be reported on | %d |", record.CheckWindow),
		fmt.Sprintf("| payload of a command | %d KiB |", lockstep.MaxPayload>>10), fmt.Sprintf("| private messages that wait for a connection | %d KiB |", (maxPrivate-roomClosing)>>10),
		fmt.Sprintf("| bytes of names and chat in the log, and 16 for each | %d MiB |", o.MaxNoteBytes>>20),
		fmt.Sprintf("| ring | 4 × lag + %d records, %d MiB;", o.RingRecords-4*int(o.Lag), o.RingBytes>>20),
		fmt.Sprintf("| %d MiB at once and %d KiB in %d s,", r.Keyframes.Burst>>20, r.Keyframes.N>>10, r.Keyframes.Per/lockstep.Second), fmt.Sprintf("| %d times that |", budget.MatchCrowd),
		fmt.Sprintf("| those of %d checks at once,", r.Resimulations.Burst/int(s.CheckEvery)),
		fmt.Sprintf("| state asked of a client | %d MiB, %d s |", o.MaxEvidence>>20, evidence.Timeout/lockstep.Second),
	} {
		if !strings.Contains(string(page), row) {
			t.Errorf("the page does not say %q", row)
		}
	}
	if got := pageRates("| x: y | 1,000 | 2 s | 30 | z |"); got["x"] != "1000 in 2 s, 30 at once" {
		t.Errorf("control: got %v", got)
	}
}
