// Package words writes results for people: lines that begin with a name, and numbers with their units. What it writes
// is safe on a terminal, whatever names and texts a hostile file has.
//
//	var p words.Page
//	p.Line("compared", "%s: %d equal", words.Count(16, "checksum"), 16)
//	err := p.Write(w)
package words

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Page gathers lines. Each begins with a name of up to 10 characters, or with spaces if it continues the line before.
type Page struct{ lines []pageLine }

type pageLine struct {
	text  string
	whole bool // never wrapped
}

// Line adds a line.
func (p *Page) Line(name, format string, args ...any) {
	p.add(name, fmt.Sprintf(format, args...), false)
}

// Command adds a line with a command to copy, which stays one line however long it is. [ShellWord] quotes its words.
func (p *Page) Command(name string, words ...string) {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellWord(w)
	}
	p.add(name, strings.Join(quoted, " "), true)
}

// Whole adds a line that stays one line however long it is, such as a command whose words are quoted.
func (p *Page) Whole(name, text string) { p.add(name, text, true) }

// Note adds a text whose lines after the first are commands or flags to copy, which stay whole.
func (p *Page) Note(name, text string) {
	first, commands, has := strings.Cut(text, "\n")
	for p.Line(name, "%s", first); has; {
		first, commands, has = strings.Cut(commands, "\n")
		p.add("", first, true)
	}
}

func (p *Page) add(name, text string, whole bool) {
	p.lines = append(p.lines, pageLine{strings.TrimRight(fmt.Sprintf("%-10s %s", name, text), " "), whole})
}

// First returns the name of a line for the first one of several, and "" for line i > 0, which continues it.
func First(name string, i int) string {
	if i > 0 {
		return ""
	}
	return name
}

// Lines returns the lines as they were given, each whole, but without control characters.
func (p *Page) Lines() []string {
	all := make([]string, len(p.lines))
	for i, line := range p.lines {
		all[i] = cleaned(line.text)
	}
	return all
}

// Write writes the lines, without control characters, and all but commands in at most [Width] columns.
func (p *Page) Write(w io.Writer) error {
	for i, line := range p.Lines() {
		if !p.lines[i].whole {
			line = Wrapped(line)
		}
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func cleaned(text string) string {
	var b strings.Builder
	c := NewCleaner(&b)
	io.WriteString(c, text) // to memory
	return b.String() + string(c.held)
}

// Count returns a number of things: "1 check", "1,200 checks".
func Count[N ~int | ~int64 | ~uint32](n N, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "ch"):
		thing += "es"
	default:
		thing += "s"
	}
	return comma(int64(n)) + " " + thing
}

// Plural returns a count with its verb: "1 check was", "2 checks were".
func Plural(n int, thing, one, many string) string {
	if n == 1 {
		return Count(n, thing) + " " + one
	}
	return Count(n, thing) + " " + many
}

// comma returns a number with commas between its thousands.
func comma(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := len(text) - len(strings.TrimPrefix(text, "-"))
	for at := len(text) - 3; at > sign; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Size returns a number of bytes: "4.0 KiB".
func Size[N int | int64](n N) string {
	if n < 10 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n), 0
	for ; size >= 1024; unit++ {
		size /= 1024
	}
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if size < 9.95 { // it has a digit before the point, also when rounded
		return fmt.Sprintf("%.1f %s", math.Floor(size*10+.5)/10, units[unit])
	}
	return fmt.Sprintf("%.0f %s", math.Floor(size+.5), units[unit])
}

// Digits writes a number with at most the given significant digits. It cuts no digit before the point, and uses no exponent:
// "120".
func Digits(v float64, digits int) string {
	decimals := digits - 1
	size := max(v, -v)
	for ; size >= 10 && decimals > 0; size /= 10 {
		decimals--
	}
	for ; size > 0 && size < 1 && decimals < 9; size *= 10 {
		decimals++
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Seconds returns a time with three digits, or in whole seconds.
func Seconds(d time.Duration) string {
	if d < time.Second {
		return Digits(float64(d.Microseconds())/1000, 3) + " ms"
	}
	if d < time.Minute {
		return Digits(d.Seconds(), 3) + " s"
	}
	return d.Round(time.Second).String()
}

// MatchTime returns the length of a match, or a time in it, in seconds.
func MatchTime(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.1f s", s)
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}
