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
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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

// Count returns a number of things: "1 check", "1,200 checks", "2 matches".
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

// List returns a list as text: "a, b and c".
func List(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

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

// Digits writes a number with at most the given significant digits. It cuts no digit before the point, and uses no exponent: "120".
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

// Clipped returns the beginning of a text, a copy if it is longer.
func Clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// OfError returns the text of an error, or nothing for nil.
func OfError(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// plain has the characters of words that a shell leaves alone.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// ShellWord returns a word as people type it in a shell: in quotation marks if it has other characters than names have.
func ShellWord(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Width is the number of columns of a line for people.
const Width = 80

// indent is the number of columns of a line's name, with the space after it.
const indent = 11

// Wrapped breaks a line of a [Page] at spaces, so that no part has more than [Width] characters. Later parts begin two columns to the right
// of the line's text. A word that is longer than a part, such as a path, is broken anywhere. Tabs become four spaces.
func Wrapped(line string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.ReplaceAll(line, "\t", "    "), "\n") {
		if i > 0 {
			b.WriteByte('\n')
			part = strings.Repeat(" ", indent+2) + part
		}
		wrap(&b, part)
	}
	return b.String()
}

func wrap(b *strings.Builder, line string) {
	hang := hangOf(line)
	for room := Width; utf8.RuneCountInString(line) > room; room = Width - hang {
		end := 0 // of the part, in bytes
		for range room {
			_, n := utf8.DecodeRuneInString(line[end:])
			end += n
		}
		next := end // of the rest
		if line[end] != ' ' {
			least := 0
			if room == Width {
				least = hang - 2 // not in the name, and not before the text
			}
			if at := strings.LastIndexByte(line[:end], ' '); at > least {
				end, next = at, at
			}
		}
		b.WriteString(strings.TrimRight(line[:end], " ") + "\n" + strings.Repeat(" ", hang))
		line = strings.TrimLeft(line[next:], " ")
	}
	b.WriteString(line)
}

// hangOf returns the column of the parts after the first: two after the beginning of the text.
func hangOf(line string) int {
	at := min(indent, len(line))
	for at < len(line) && line[at] == ' ' {
		at++
	}
	return min(at, Width/2) + 2
}

// A Cleaner is a Writer that escapes control characters, but for line feeds and tabs, and characters that change the direction of text, so
// that a name in a hostile file cannot control the terminal. It writes \u and four hex digits, which mean the same in a JSON string.
type Cleaner struct {
	w    io.Writer
	buf  []byte
	held []byte // the possible beginning of such a character
	err  error
}

// NewCleaner returns a Cleaner that writes to w.
func NewCleaner(w io.Writer) *Cleaner { return &Cleaner{w: w} }

// Unwrap returns the Writer below, which takes everything.
func (c *Cleaner) Unwrap() io.Writer { return c.w }

// Err returns the first error of the Writer below.
func (c *Cleaner) Err() error { return c.err }

// Write writes p, except for bytes at its end that may begin an escaped character, which it keeps for the next call. The first error stays.
func (c *Cleaner) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	c.buf = c.buf[:0]
	for _, b := range p {
		if c.held = append(c.held, b); begins(c.held) {
			continue
		}
		if r, _ := utf8.DecodeRune(c.held); escaped(r) {
			c.buf = fmt.Appendf(c.buf, `\u%04x`, r)
			c.held = c.held[:0]
			continue
		}
		last := len(c.held) - 1
		c.buf = append(c.buf, c.held[:last]...)
		if c.held = append(c.held[:0], b); begins(c.held) {
			continue
		}
		c.held = c.held[:0]
		if b < ' ' && b != '\n' && b != '\t' || b == 0x7f {
			c.buf = fmt.Appendf(c.buf, `\u%04x`, b)
			continue
		}
		c.buf = append(c.buf, b)
	}
	if _, c.err = c.w.Write(c.buf); c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}

// begins reports whether b may be the beginning of a character that is escaped.
func begins(b []byte) bool {
	return slices.Contains([]string{"\xc2", "\xd8", "\xe2", "\xe2\x80", "\xe2\x81"}, string(b))
}

// escaped reports whether a character beyond ASCII is a control character or changes the direction of text.
func escaped(r rune) bool { return r >= 0x80 && unicode.In(r, unicode.Cc, unicode.Bidi_Control) }
