package words

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
)

// Numbers and sizes are written as a library that many programs use writes them.
func TestNumbersAsUsual(t *testing.T) {
	for _, n := range []int64{0, 1, 9, 10, 999, 1000, 1023, 1024, 1100, 9999, 10188, 10189, 10239, 10240, 123456, 1<<20 - 1, 1 << 20, 10484711, 1<<40 + 7, 1 << 62} {
		if got, want := Size(n), humanize.IBytes(uint64(n)); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
		for _, n := range []int64{n, -n} {
			if got, want := Count(n, ""), humanize.Comma(n)+" s"; n != 1 && got != want {
				t.Errorf("%d: got %q, want %q", n, got, want)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0 ticks", 1: "1 tick", 1234567: "1,234,567 ticks"} {
		if got := Count(n, "tick"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for d, want := range map[time.Duration]string{1234 * time.Microsecond: "1.23 ms", 12345 * time.Millisecond: "12.3 s", 1234567 * time.Millisecond: "20m35s"} {
		if got := Seconds(d); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for s, want := range map[float64]string{0: "0.0 s", 20: "20.0 s", 1927: "32m7s", 3600: "1h0m0s"} {
		if got := MatchTime(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := Plural(1, "field", "differs", "differ") + ", " + Plural(2, "field", "differs", "differ"); got != "1 field differs, 2 fields differ" {
		t.Errorf("got %q", got)
	}
}

// A page has one form, and a hostile text in it controls no terminal.
func TestPage(t *testing.T) {
	var p Page
	p.Line("verdict", "%s is wrong", "\x1b[2Jplayer")
	p.Line("", "continued")
	p.Line("empty", "")
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "verdict    " + `\u001b[2Jplayer is wrong` + "\n           continued\nempty\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// A command to copy is one line, however long it is, and its words are those that a shell gets.
func TestCommand(t *testing.T) {
	long := strings.Repeat("/a folder", 12)
	var p Page
	p.Line("start", "%s", long)
	p.Command("", "cd", long, "it's", "x=1", "$HOME")
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
	if want := "           cd '" + long + `' 'it'\''s' x=1 '$HOME'`; len(lines) < 3 || lines[len(lines)-1] != want {
		t.Errorf("got %q, want %q", lines, want)
	}
	for i, want := range []string{"note", "", ""} {
		if got := First("note", i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

type full struct{}

var errFull = errors.New("no room")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestPageReturnsTheError(t *testing.T) {
	var p Page
	p.Line("a", "b")
	if err := p.Write(full{}); !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}

// The lines of a note after its first one are whole, however long they are.
func TestNote(t *testing.T) {
	long := "git worktree add ../" + strings.Repeat("x", 70) + " v1"
	var p Page
	p.Note("note", "use the folder of\n"+long+"\n--source v1")
	p.Note("", "nothing else")
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "note       use the folder of\n           " + long + "\n           --source v1\n           nothing else\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// No number has an exponent, which people read badly.
func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 100: "100", 1234.5: "1234", 99.96: "100", 1.25: "1.25", 0.00123: "0.00123", -12.34: "-12.3", 5: "5"} {
		if got := Digits(v, 3); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
	if got := Seconds(999996 * time.Microsecond); got != "1000 ms" {
		t.Errorf("got %s, want 1000 ms", got)
	}
}
