package matchlog_test

import (
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/matchlog"
)

const fieldHead = `{"log":1,"title":"x","tick_rate_hz":10,"players":2}` + "\n"

// A byte order mark, which .NET and PowerShell write, and an empty last line are no content.
func TestMarkAndLastLine(t *testing.T) {
	for name, text := range map[string]string{
		"a mark":             matchlog.Mark + small,
		"an empty last line": small + "\n",
		"of Windows":         strings.ReplaceAll(small, "\n", "\r\n") + "\r\n",
	} {
		r, got, err := readAll(text)
		if err != io.EOF || len(got) != 2 || r.Torn() {
			t.Errorf("%s: got %v, %d entries, torn %v", name, err, len(got), r.Torn())
		}
	}
	if r, _, err := readAll(fieldHead + `{"t":3,"p":0,"sum":"0000000000000001"}` + "\n\n"); err != io.EOF || !r.Torn() {
		t.Errorf("an empty line where the end is missing: got %v, torn %v", err, r.Torn())
	}
	for name, text := range map[string]string{
		"two marks":          matchlog.Mark + matchlog.Mark + small,
		"two empty lines":    small + "\n\n",
		"an empty line":      strings.Replace(small, "\n", "\n\n", 1),
		"two where it ends":  fieldHead + "\n\n",
		"a mark in the text": strings.Replace(small, "\n", "\n"+matchlog.Mark, 1),
	} {
		if _, _, err := readAll(text); err == io.EOF || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Half of a surrogate pair is refused: encoding/json would read another character, and two texts would become one.
func TestLoneSurrogate(t *testing.T) {
	for text, lone := range map[string]bool{
		`\ud83d\ude00`: false, `\uD83D\uDE00 \u00e9`: false, `\\ud83d`: false, `\\\\ud800`: false,
		`\ud83d`: true, `\ude00`: true, `\ude00\ud83d`: true, `\ud83d\u0041`: true, `\ud83dx\ude00`: true, `\\\ud83d`: true, `\ud83d\\ude00`: true,
	} {
		_, got, err := readAll(fieldHead + `{"t":0,"note":"chat","text":"` + text + `"}` + "\n" + `{"t":1,"end":true}` + "\n")
		if refused := err != io.EOF && strings.Contains(err.Error(), "line 2: malformed match: got half of a surrogate pair"); refused != lone {
			t.Errorf("%s: got %v, %+v", text, err, got)
		}
	}
}

// A sum of 128 bits is kept whole, and its hash tells it from one with an equal half.
func TestLongSum(t *testing.T) {
	_, got, err := readAll(fieldHead + `{"t":0,"p":0,"sum":"000102030405060708090A0B0C0D0E0F"}
{"t":0,"p":1,"sum":"100102030405060708090a0b0c0d0e0f"}
{"t":1,"end":true}
`)
	if err != io.EOF || got[0].Long != "000102030405060708090a0b0c0d0e0f" || got[0].Hash == got[1].Hash {
		t.Errorf("got %v, %+v", err, got)
	}
	for _, sum := range []string{strings.Repeat("0", 24), strings.Repeat("0", 31), strings.Repeat("g", 32), strings.Repeat("0", 40)} {
		if _, _, err := readAll(fieldHead + `{"t":0,"p":0,"sum":"` + sum + `"}` + "\n"); !strings.Contains(err.Error(), "line 2: malformed match: got checksum") {
			t.Errorf("%s: got %v", sum, err)
		}
	}
}

// A gap is stated from its first to its last tick, and has no commands.
func TestGapLine(t *testing.T) {
	const gap, command, end = `{"t":50,"gap":99}` + "\n", `{"t":100,"p":0,"s":1,"k":1,"d":""}` + "\n", `{"t":100,"end":true}` + "\n"
	_, got, err := readAll(fieldHead + gap + `{"t":60,"p":1,"sum":"0000000000000001"}` + "\n" + command + end)
	if err != io.EOF || len(got) != 3 || !got[0].Gap || got[0].Tick != 50 || got[0].Until != 99 || !got[2].Command() {
		t.Errorf("got %v, %+v", err, got)
	}
	for text, want := range map[string]string{
		gap + strings.Replace(command, "100", "99", 1): "line 3: malformed match: got tick 99, want one from 100 on: after the gap",
		`{"t":50,"gap":49}` + "\n":                     "line 2: malformed match: got a gap to tick 49",
		`{"t":50,"gap":2147483647}` + "\n":             "line 2: malformed match: got a gap to tick 2147483647",
		`{"t":50,"p":0,"gap":60}` + "\n":               "line 2: malformed match: want no player",
		`{"t":50,"gap":60,"end":true}` + "\n":          "line 2: malformed match: want nothing but a tick",
		`{"t":50,"order":"1"}` + "\n":                  "line 2: malformed match: got checksum",
	} {
		if _, _, err := readAll(fieldHead + text); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// Each entry has the line of the file, so that later errors can name it.
func TestErrorsNameTheLine(t *testing.T) {
	r, err := matchlog.NewReader(strings.NewReader(recorded))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		lines = append(lines, e.Line)
	}
	if want := []int{2, 3, 6, 7}; !reflect.DeepEqual(lines, want) { // the state ends on line 6
		t.Errorf("got lines %d, want %d", lines, want)
	}
	if _, err := matchlog.NewReader(strings.NewReader("\x1f\x8bno gzip")); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("got %v", err)
	}
}

// What a machine has not recorded is inferred from checksums that come at an interval, and never from irregular ones.
func TestGaps(t *testing.T) {
	from := func(from, to, step uint32) (all []uint32) {
		for t := from; t <= to; t += step {
			all = append(all, t)
		}
		return all
	}
	for _, c := range []struct {
		name           string
		sums, commands []uint32
		first          uint32
		gaps           []matchlog.Gap
	}{
		{"a whole one", from(0, 200, 1), nil, 0, nil},
		{"from tick 1 on", from(1, 200, 1), []uint32{0}, 0, nil},
		{"every 30 ticks, not at 0", from(30, 300, 30), []uint32{25}, 0, nil},
		{"a late one", from(100, 200, 1), from(100, 190, 10), 100, nil},
		{"a late one, every 30 ticks", from(120, 300, 30), []uint32{95}, 95, nil},
		{"one with its lobby", from(100, 200, 1), []uint32{0, 100}, 0, nil},
		{"a gap", append(from(0, 49, 1), from(100, 199, 1)...), nil, 0, []matchlog.Gap{{50, 99}}},
		{"a gap with commands", append(from(0, 49, 1), from(100, 199, 1)...), []uint32{49, 70}, 0, []matchlog.Gap{{50, 69}, {71, 99}}},
		{"one sum is missing", append(from(0, 49, 1), from(51, 199, 1)...), nil, 0, nil},
		{"a world's ticks", from(10_000_000, 10_000_100, 1), nil, 10_000_000, nil},
		{"irregular", []uint32{10, 13, 40, 41, 90, 300}, nil, 0, nil},
		{"two", []uint32{10, 13}, nil, 0, nil},
		{"none", nil, nil, 0, nil},
	} {
		lowest := uint32(math.MaxUint32)
		for _, all := range [][]uint32{c.sums, c.commands} {
			if len(all) > 0 {
				lowest = min(lowest, all[0])
			}
		}
		if got := matchlog.Gaps(c.sums, c.commands); !reflect.DeepEqual(got, c.gaps) {
			t.Errorf("%s: got gaps %v, want %v", c.name, got, c.gaps)
		}
		if got := matchlog.First(c.sums, lowest); got != c.first {
			t.Errorf("%s: got first tick %d, want %d", c.name, got, c.first)
		}
	}
}
