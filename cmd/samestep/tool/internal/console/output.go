//go:build !js

package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/seed-49bee653/samestep/internal/words"
)

// JSONFlag asks for one JSON value instead of text.
var JSONFlag = &cli.BoolFlag{Name: "json", Usage: "print one JSON value, for programs"}

// HTMLFlag asks for a page, too.
var HTMLFlag = &cli.StringFlag{Name: "html", Usage: "also write a page for browsers to `FILE`, which must not exist"}

// WriteJSON writes v as JSON in lines.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WriteLine writes v as one line of JSON.
func WriteLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// A Liner prints a line that begins with a name. Lines that continue another have no name.
type Liner func(name, format string, args ...any)

// NewLiner returns a liner that does not wrap.
func NewLiner(w io.Writer) Liner {
	return func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
}

// NewWrappingLiner returns a liner that wraps lines as the reports do. It is not for paths and commands, which people copy whole.
func NewWrappingLiner(w io.Writer) Liner {
	return func(name, format string, args ...any) {
		fmt.Fprintln(w, words.Wrapped(fmt.Sprintf("%-10s %s", name, fmt.Sprintf(format, args...))))
	}
}

// Shown escapes a text from a file or a server so that it can neither control a terminal nor break a table.
func Shown(s string) string {
	var b bytes.Buffer
	c := words.NewCleaner(&b)
	c.Write([]byte(s + " ")) // the space ends a character that was cut
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(strings.TrimSuffix(strings.ToValidUTF8(b.String(), "?"), " "))
}

// Size returns bytes for people, such as 89 KiB.
func Size[N int | int64](n N) string { return words.Size(n) }

// Count returns a number of things for people: "1 tick" or "2 ticks".
func Count[N ~int | ~int64 | ~uint32](n N, thing string) string { return words.Count(n, thing) }

// Seconds returns a time in seconds, for people.
func Seconds(d time.Duration) string { return words.Seconds(d) }

// MatchTime returns the time of a match for people.
func MatchTime(s float64) string { return words.MatchTime(s) }

// Milliseconds returns a time in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// A Progress is a progress bar on a terminal.
type Progress struct {
	unit  string
	max   int64 // set before the first call of set
	from  time.Time
	drawn time.Time
	w     io.Writer // nil shows nothing
}

// NewProgress returns the bar of work with max steps. It appears if w is a terminal and the work takes more than a second.
func NewProgress(w io.Writer, max int64, unit string) *Progress {
	p := &Progress{unit: unit, max: max, from: time.Now()}
	if IsTerminal(w) {
		p.w = w.(*words.Cleaner).Unwrap() // the bar moves the cursor
	}
	return p
}

// IsTerminal reports whether output goes to a terminal.
func IsTerminal(w io.Writer) bool {
	c, ok := w.(*words.Cleaner)
	if !ok {
		return false
	}
	f, ok := c.Unwrap().(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Set moves the bar to step n.
func (p *Progress) Set(n int64) {
	now := time.Now()
	if p.w == nil || now.Sub(p.from) < time.Second || now.Sub(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn = now
	const width = 24
	part := min(max(float64(n)/float64(max(p.max, 1)), 0), 1)
	full, elapsed := int(part*width), now.Sub(p.from)
	left := "?"
	if part > 0 {
		left = time.Duration(float64(elapsed) * (1/part - 1)).Round(time.Second).String()
	}
	line := fmt.Sprintf("%3.0f%% |%s%s| %s [%v, %s left]", part*100, strings.Repeat("█", full), strings.Repeat(" ", width-full), p.counts(n, elapsed),
		elapsed.Round(time.Second), left)
	fmt.Fprintf(p.w, "\r\x1b[K%s", Fit([]byte(line), TerminalWidth(p.w)-1)) // some terminals wrap after the last column
}

// counts returns "5/10 ticks, 2/s".
func (p *Progress) counts(n int64, elapsed time.Duration) string {
	rate := int64(float64(n) / elapsed.Seconds())
	if p.unit == "bytes" {
		return fmt.Sprintf("%s/%s, %s/s", Size(n), Size(p.max), Size(rate))
	}
	return fmt.Sprintf("%d/%d %s, %d/s", n, p.max, p.unit, rate)
}

// SetOf is set for work whose number of steps becomes known with the first one.
func (p *Progress) SetOf(n, max int64) {
	p.max = max
	p.Set(n)
}

// TerminalWidth returns the columns of a terminal, and 80 for another writer.
func TerminalWidth(w io.Writer) int {
	if c, ok := w.(*words.Cleaner); ok {
		w = c.Unwrap()
	}
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 1 {
			return width
		}
	}
	return 80
}

// Fit cuts each line to a width, so that it does not wrap. The escape sequences of a terminal have none.
func Fit(b []byte, width int) []byte {
	var out []byte
	column, escaped := 0, false
	for _, r := range string(b) {
		switch {
		case r == '\x1b':
			escaped = true
		case escaped:
			escaped = !(r >= '@' && r <= '~' && r != '[')
		case r == '\r' || r == '\n':
			column = 0
		case column >= width:
			continue
		default:
			column++
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// Done removes the bar.
func (p *Progress) Done() {
	if !p.drawn.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// StatusOf returns the status of an answer in our own words, since a server can send any text.
func StatusOf(r *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
}

// maxHelp is the widest help, in columns.
const maxHelp = 100

// wrapped breaks a text after the beginning of its first line; further lines are indented to column. Words that are too wide stay whole.
func wrapped(begin string, column int, text string, width int) (lines []string) {
	line := begin
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line += word
		case word != "" && utf8.RuneCountInString(line+word)+1 > width && strings.TrimSpace(line) != "":
			lines = append(lines, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", column) + word
		default:
			line += " " + word
		}
	}
	return append(lines, strings.TrimRight(line, " "))
}
