package protocol

import (
	"cmp"
	"fmt"
	"math/bits"
	"os"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const page = "../../docs/spec/live.md"

// The tables of messages in docs/spec/live.md are what the descriptions say.
func TestTablesOnPage(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	want := withTables(t, got)
	if script.Rewrite() {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("docs/spec/live.md differs from the descriptions; -rewrite writes it (-want +got):\n%s", diff)
	}
	if other := strings.Replace(got, "nonce (u64)", "nonce (u32)", 1); withTables(t, other) != want {
		t.Error("control: a wrong row is not corrected")
	}
}

// withTables returns the page with the rows of messages as the descriptions have them.
func withTables(t *testing.T, text string) string {
	for title, sender := range map[string]side{"## Messages of a client\n": client, "## Messages of a server\n": server} {
		before, after, found := strings.Cut(text, title)
		rows := regexp.MustCompile("(?m)(^\\| [0-9]+ \\| `.*\n)+").FindStringIndex(after)
		if !found || rows == nil {
			t.Fatalf("no table under %q", title)
		}
		text = before + title + after[:rows[0]] + table(sender) + after[rows[1]:]
	}
	return text
}

func table(sender side) string {
	var b strings.Builder
	for k := range descriptions {
		d := &descriptions[k]
		if d.sender&sender == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", k, d.name, values(d, true))
	}
	return b.String()
}

// values returns the values of a kind, with or without the notes for people.
func values(d *description, notes bool) string {
	all := []string{}
	for i := range d.fields {
		f := &d.fields[i]
		note := f.note
		if !notes {
			note = ""
		}
		all = append(all, fmt.Sprintf("%s (%s%s)", f.name, form(f), note))
	}
	return cmp.Or(strings.Join(all, ", "), "(none)")
}

// form returns the type and the limits of a field.
func form(f *field) string {
	switch p := f.at(&Message{Auth: new(Auth), Welcome: new(Welcome)}).(type) {
	case *uint8:
		return "u8" + limits(f, 8)
	case *uint16:
		return "u16" + limits(f, 16)
	case *uint32:
		return "u32" + limits(f, 32)
	case *uint64:
		return "u64" + limits(f, 64)
	case *bool:
		return "bool"
	case *string:
		return "string" + limits(f, 64)
	case *[]byte:
		return "bytes" + limits(f, 64)
	case *[]string:
		return fmt.Sprintf("array of 0 to %d strings, each at most %d", f.high, record.MaxName)
	case *[]uint64:
		return fmt.Sprintf("array of 0 to %d u64", f.high)
	case *lockstep.Player:
		return fmt.Sprintf("u8, at most %d, or %d", lockstep.MaxPlayers-1, lockstep.System)
	case *SessionToken:
		return fmt.Sprintf("bytes, %d or none", len(p))
	case *lockstep.SelfTest:
		return fmt.Sprintf("array of %d u64", len(p.Parts()))
	}
	return "?"
}

func limits(f *field, width int) string {
	full := f.high == 0 || bits.OnesCount64(f.high) == width
	switch {
	case f.low == 0 && full:
		return ""
	case full:
		return fmt.Sprintf(", %d or more", f.low)
	case f.low == 0:
		return ", at most " + size(f.high)
	}
	return fmt.Sprintf(", %d to %d", f.low, f.high)
}

// size writes large numbers as sums of powers: "256 MiB + 128 KiB".
func size(n uint64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case n >= mib && n%mib > 0:
		return size(n-n%mib) + " + " + size(n%mib)
	case n >= mib:
		return fmt.Sprintf("%d MiB", n/mib)
	case n > 2*kib && n%kib == 0:
		return fmt.Sprintf("%d KiB", n/kib)
	case n >= 1000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}
