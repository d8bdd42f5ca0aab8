package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// writeJSON writes v as one indented JSON value.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// size returns a number of bytes for people.
func size[N int | int64](n N) string { return humanize.IBytes(uint64(n)) }

// count returns a number of things for people: "1 check", "1,200 checks".
func count[N ~int | ~int64 | ~uint32](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return humanize.Comma(int64(n)) + " " + thing
}

// seconds returns a time for people: to three digits, or to a second.
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1000)
	}
	if d < time.Minute {
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// matchTime returns how long a match took, or where in it something is.
func matchTime(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.1f s", s)
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

// A progress shows on a terminal how far a long piece of work has come.
type progress struct {
	bar  *progressbar.ProgressBar
	unit string
	max  int64
	from time.Time
	w    io.Writer
}

// newProgress returns the progress of work with max steps. It shows nothing
// unless w is a terminal and the work takes more than a second.
func newProgress(w io.Writer, max int64, unit string) *progress {
	if !isTerminal(w) {
		return &progress{}
	}
	return &progress{unit: unit, max: max, from: time.Now(), w: w.(*cleaner).w} // the bar moves the cursor
}

// isTerminal reports whether w leads to a terminal.
func isTerminal(w io.Writer) bool {
	c, ok := w.(*cleaner)
	if !ok {
		return false
	}
	f, ok := c.w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// set tells that step n was reached.
func (p *progress) set(n int64) {
	if p.w == nil {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(p.max, progressbar.OptionSetWriter(p), progressbar.OptionSetItsString(p.unit),
			progressbar.OptionShowBytes(p.unit == "bytes"), progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	p.bar.Set64(n)
}

// Write shows what the bar writes, after the first second.
func (p *progress) Write(b []byte) (int, error) {
	if time.Since(p.from) < time.Second {
		return len(b), nil
	}
	return p.w.Write(b)
}

// done takes the bar away.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Finish()
	}
}

// writeLine writes v as one line of JSON.
func writeLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
