package line

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/token"
	"io"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/internal/words"
)

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error { return r.page().Write(w) }

// MarshalJSON returns the result as samestep desync line --json prints it.
func (r *Result) MarshalJSON() ([]byte, error) {
	type plain Result // without this method
	return json.Marshal(struct {
		*plain
		Verdict string `json:"verdict"`
	}{(*plain)(r), r.Verdict()})
}

// Lines returns the text that WriteText writes, but each line whole.
func (r *Result) Lines() []string { return r.page().Lines() }

// Verdict says in one sentence what was found.
func (r *Result) Verdict() string {
	switch {
	case len(r.Data) > 0 && r.Data[0].Read:
		return r.Data[0].String()
	case r.Tick == 0:
		return r.same()
	case r.Endless != [2]*Endless{}:
		return r.endless()
	case r.Panicked() && r.Mode == Checked:
		return fmt.Sprintf("the rules panic in tick %d", r.Tick)
	case r.Panicked():
		return fmt.Sprintf("the rules panic in tick %d, on both sides in the same way", r.Tick)
	case r.Finding == nil && r.Panics[0] != r.Panics[1]:
		return fmt.Sprintf("the rules panic differently on the two sides in tick %d", r.Tick)
	case r.Finding == nil:
		return fmt.Sprintf("the results after tick %d differ if each side computes the match from the start, and agree if that tick is computed alone", r.Tick)
	case r.Finding.Reason == Nothing:
		return r.Finding.nothing()
	case r.Finding.Unchanged:
		return "first seen where both versions have the same code: " + r.Finding.because()
	}
	return r.Finding.because()
}

// endless says which sides do not end the tick, and the first difference before.
func (r *Result) endless() string {
	all := r.endlessSides(r.inTick())
	if f := r.Finding; f != nil {
		all = append(all, f.because())
	}
	return strings.Join(all, "; ")
}

func (r *Result) inTick() string { return fmt.Sprintf("in tick %d", r.Tick) }

// endlessSides says of each side that does not end a tick what it does, at a time such as "in tick 3".
func (r *Result) endlessSides(when string) (all []string) {
	for i, e := range r.Endless {
		if e != nil {
			all = append(all, e.sentence(sideNames[i], when))
		}
	}
	return all
}

func (e *Endless) sentence(side, when string) string {
	text := side + " " + e.what(when)
	switch {
	case e.Loop != nil:
		text += fmt.Sprintf(": it loops at %s:%d in %s", e.Loop.File, e.Loop.Line, e.Loop.Func)
	case e.Last != nil:
		text += fmt.Sprintf(": the last line with a probe is %s:%d in %s", e.Last.File, e.Last.Line, e.Last.Func)
	}
	return text
}

// nothing says that no difference was found.
func (f *Finding) nothing() string {
	if f.Calls > 0 {
		return fmt.Sprintf("both sides make %s: the difference arises in one of the functions, or in one that the compiler inlined", words.Count(f.Calls, "equal call"))
	}
	return noProbe
}

const noProbe = "no probe differs: the difference arises in code without probes, such as a package outside the module or Derive"

func (r *Result) page() *words.Page {
	p := &words.Page{}
	p.Line("sides", "A: %s", r.Sides[0])
	p.Line("", "B: %s", r.Sides[1])
	for i, text := range r.Notes {
		p.Note(words.First("note", i), text)
	}
	if r.Reported != nil {
		for i, text := range r.Reported.Text {
			p.Line(words.First("bundle", i), "%s", text)
		}
	}
	if r.Tick == 0 {
		if r.Reported != nil && r.Reported.Next != "" {
			p.Line("", "%s", r.Reported.Next)
		}
		p.Line("verdict", "%s", r.Verdict())
		return p
	}
	if r.Panicked() {
		r.addPanic(p)
		return p
	}
	if r.Differs() {
		p.Line("diverged", "at tick %d", r.Tick)
	}
	for i, text := range r.Panics {
		if text != "" {
			p.Line("panic", "%s: %s", sideNames[i], text)
		}
	}
	for i, text := range r.endlessSides(r.inTick()) {
		p.Line(words.First("endless", i), "%s", text)
	}
	for i, f := range r.Fields {
		p.Line(words.First("state", i), "%s: %s | %s", f.Path, f.Values[0], f.Values[1])
	}
	r.addFinding(p)
	r.addDifferences(p)
	if r.Dropped > 0 {
		p.Line("limit", "%d events exceeded the limit of a recording", r.Dropped)
	}
	if r.Partial > 0 {
		p.Line("limit", "%s more than was compared", words.Plural(r.Partial, "call", "reaches", "reach"))
	}
	switch {
	case r.took > 0 && r.Probes == 0:
		p.Line("took", "%s: %s to compile, %s to run; %s and %s", words.Seconds(r.took), seconds(r.BuildSeconds), seconds(r.RunSeconds),
			words.Count(r.Events[0], "call"), words.Count(r.Events[1], "call"))
	case r.took > 0:
		p.Line("took", "%s: %s to build, %s to run; %s and %s of %s", words.Seconds(r.took), seconds(r.BuildSeconds), seconds(r.RunSeconds),
			words.Count(r.Events[0], "event"), words.Count(r.Events[1], "event"), words.Count(r.Probes, "probe"))
	}
	return p
}

// WriteFinding writes only the finding, and which side is which.
func (r *Result) WriteFinding(w io.Writer) error {
	var p words.Page
	if r.Panicked() {
		r.addPanic(&p)
		return p.Write(w)
	}
	r.addFinding(&p)
	r.addDifferences(&p)
	p.Line("values", "%s | %s", r.Sides[0], r.Sides[1])
	return p.Write(w)
}

func (r *Result) addFinding(p *words.Page) {
	if r.Phase != "" {
		p.Line("phase", "%s", r.Phase)
	}
	for i, x := range r.Streams {
		p.Line(words.First("stream", i), "%s", x)
	}
	switch {
	case r.Finding != nil:
		r.Finding.add(p)
	case r.Endless == [2]*Endless{}:
		p.Line("verdict", "%s", r.Verdict())
	}
}

var sideNames = [2]string{"A", "B"}

func seconds(s float64) string { return words.Seconds(time.Duration(s * float64(time.Second))) }

// same says what was compared when nothing differs.
func (r *Result) same() string {
	switch r.Mode {
	case Versions:
		return fmt.Sprintf("both versions compute the same from tick %d to %d", r.First, r.Last)
	case Platforms:
		return fmt.Sprintf("both platforms compute the same from tick %d to %d", r.First, r.Last)
	}
	text := fmt.Sprintf("this version computes the same again from tick %d to %d, and from a snapshot before each tick; compare it with the other side's version (--other)", r.First, r.Last)
	if r.Probes == 0 { // of a module, which is the same on each platform
		return text
	}
	return text + " or platform (--platform)"
}

func (f *Finding) add(p *words.Page) {
	if f.Reason == Nothing {
		p.Line("verdict", "%s", f.nothing())
		f.addHint(p)
		f.addWrites(p)
		return
	}
	f.addPlaces(p)
	p.Line("because", "%s", f.because())
	f.addHint(p)
	if f.Entity != "" {
		p.Line("entity", "%s", f.Entity)
	}
	if f.First != nil && f.First.Line != f.Place().Line {
		p.Line("seen at", "%s:%d  %s", f.First.File, f.First.Line, f.First.Source)
	}
	if f.Written != nil {
		when := ""
		if f.WrittenTick > 0 {
			when = fmt.Sprintf(" in tick %d", f.WrittenTick)
		}
		p.Line("written by", "%s:%d%s  %s", f.Written.File, f.Written.Line, when, f.Written.Source)
	}
	for i := range f.Path {
		p.Line(words.First("called", i), "%s", &f.Path[len(f.Path)-1-i])
	}
	f.addWrites(p)
}

// addPlaces describes the line or the function, on both sides if they differ.
func (f *Finding) addPlaces(p *words.Page) {
	at, a := f.Place(), f.Where[0]
	both := a != nil && f.Where[1] != nil && *a != *at
	if at.Source == "" {
		p.Line("function", "%s", at)
		if both {
			p.Line("", "on A: %s", a)
		}
		return
	}
	label := "line"
	if f.Unchanged {
		label = "first seen"
	}
	p.Line(label, "%s:%d  in %s", at.File, at.Line, at.Func)
	p.Line("", "    %s", at.Source)
	if both && (a.Line != at.Line || a.File != at.File || a.Source != at.Source) {
		p.Line("", "on A: %s:%d", a.File, a.Line)
		p.Line("", "    %s", a.Source)
	}
}

// String returns the function and the line, if that is known.
func (p *Place) String() string {
	if p.File == "" {
		return p.Func
	}
	return fmt.Sprintf("%s at %s:%d", p.Func, p.File, p.Line)
}

func (f *Finding) addHint(p *words.Page) {
	if h := f.Hint; h != nil {
		p.Line("hint", "%s, after %s; such numbers may be addresses", h.because(), words.Count(h.Calls, "equal call"))
	}
}

func (f *Finding) addWrites(p *words.Page) {
	for i, w := range f.Writes {
		mark := ""
		if w.Seen {
			mark = "  <- the field that differs"
		}
		part, x, y, _ := narrow("", w.Values[0], w.Values[1])
		p.Line(words.First("then", i), "%s:%d  %s%s: %s%s", w.Place.File, w.Place.Line, strings.TrimPrefix(w.Entity+" ", " "), w.Name+part, pair(x, y), mark)
	}
}

// because says how the sides differ at the line.
func (f *Finding) because() string {
	values := pair(f.Values[0], f.Values[1])
	switch f.Reason {
	case Value:
		return valuesText(f.Text, f.Values)
	case Memory:
		return fmt.Sprintf("the memory begins to differ here, after %s; after the tick, %s is %s", words.Count(f.Calls, "equal call"), f.Text, values)
	case Flow:
		if f.Calls > 0 {
			return fmt.Sprintf("the sides take different paths here, after %s: %s", words.Count(f.Calls, "equal call"), values)
		}
		return "the sides take different paths from here: " + values
	}
	side := 0
	if f.Where[1] != nil {
		side = 1
	}
	text := fmt.Sprintf("only %s runs this", sideNames[side])
	part, x, y, _ := narrow("", f.Values[0], f.Values[1])
	stays, becomes := shorter(x, y)
	if side == 0 {
		becomes, stays = stays, becomes
	}
	switch {
	case stays != "":
		text += fmt.Sprintf(": %s becomes %s, and stays %s on the other side", cmp.Or(strings.TrimPrefix(part, "."), "the value"), becomes, stays)
	case becomes != "" && !isStruct(becomes):
		text += ": the value becomes " + becomes
	}
	return text
}

// addPanic describes a panic that is the same on both sides.
func (r *Result) addPanic(p *words.Page) {
	p.Line("panic", "%s", r.Panics[0])
	if r.At != nil {
		p.Line("after", "%s:%d  %s", r.At.File, r.At.Line, r.At.Source)
		p.Line("", "in %s: the last probe before the panic", r.At.Func)
	}
	p.Line("verdict", "%s", r.Verdict())
}

// String says where the data differ, and how.
func (d *Datum) String() string {
	at := d.Where[1]
	if at == nil {
		at = d.Where[0]
	}
	switch {
	case at == nil:
		return fmt.Sprintf("the data differ: %s is %s | %s", d.Name, none(d.Values[0]), none(d.Values[1]))
	case d.Name == "":
		return fmt.Sprintf("the data differ: %s:%d  %s | %s", at.File, at.Line, none(d.Values[0]), none(d.Values[1]))
	}
	return fmt.Sprintf("the data differ: %s:%d  %s is %s | %s", at.File, at.Line, d.Name, none(d.Values[0]), none(d.Values[1]))
}

// addDifferences describes what the sides differ in besides the place that was found.
func (r *Result) addDifferences(p *words.Page) {
	label := "data"
	for i := range r.Data {
		text := r.Data[i].String()
		if !r.Data[i].Read || i > 0 {
			text = "consistent with it: " + text
		}
		p.Line(label, "%s", text)
		label = ""
	}
	if !r.Searched {
		return
	}
	if len(r.Changed) == 0 {
		p.Line("changed", "no changed line with a probe ran in the tick before it")
		return
	}
	lines := words.Count(len(r.Changed), "changed line")
	if r.Finding == nil {
		p.Line("changed", "consistent with it: %s; what differs arose in a tick before", lines)
	} else {
		p.Line("changed", "consistent with it: %s that ran in the tick before it, or before the match", lines)
	}
	for i := range r.Changed[:min(len(r.Changed), maxListed)] {
		c := &r.Changed[i]
		at := c.Where[1]
		if at == nil {
			at = c.Where[0]
		}
		p.Line("", "    %s:%d  %s | %s", at.File, at.Line, source(c.Where[0]), source(c.Where[1]))
	}
}

func source(p *Place) string {
	if p == nil {
		return none("")
	}
	return p.Source
}

// narrow returns the first part in which two values differ that a text names: the parameter of a call, the field of a struct, the
// element of a list. more is how many others differ. part is "" if the values have no common parts.
func narrow(text, a, b string) (part, x, y string, more int) {
	if rest, is := probe.Outside(a); is {
		if other, too := probe.Outside(b); too {
			a, b = rest, other
		}
	}
	if x, y := probe.WithoutRoom(a), probe.WithoutRoom(b); x != y {
		a, b = x, y
	}
	if x, y := withoutSum(a), withoutSum(b); x != y {
		a, b = x, y
	}
	x, y = a, b
	if names := parameters(text); len(names) > 1 {
		as, bs := split(a, ", "), split(b, ", ")
		if len(as) == len(names) && len(bs) == len(names) {
			if part, x, y, more = different(names, as, bs, ""); part == "" {
				return "", a, b, 0
			}
		}
	}
	for {
		name, nextX, nextY, others := inside(x, y)
		if name == "" {
			return part, x, y, more
		}
		part, x, y, more = part+name, nextX, nextY, more+others
	}
}

// withoutSum cuts off the sum behind the text of what a call leaves.
func withoutSum(s string) string {
	if i := strings.LastIndex(s, " #"); i > 0 && strings.ContainsAny(s[i-1:i], "}]") {
		return s[:i]
	}
	return s
}

// inside returns the first part of two structs or lists that differs, or "".
func inside(a, b string) (part, x, y string, more int) {
	a, b = strings.TrimPrefix(a, "&"), strings.TrimPrefix(b, "&")
	kind := a[:min(len(a), 1)] + b[:min(len(b), 1)]
	as, bs := items(bare(a), kind == "{{"), items(bare(b), kind == "{{")
	if len(as) != len(bs) || kind != "{{" && kind != "[[" {
		return "", a, b, 0
	}
	names := make([]string, len(as))
	for i := range as {
		if kind == "[[" {
			names[i] = fmt.Sprintf("[%d]", i)
			continue
		}
		name, value, ok := strings.Cut(as[i], ":")
		other, found := strings.CutPrefix(bs[i], name+":")
		if !ok || !found {
			return "", a, b, 0
		}
		names[i], as[i], bs[i] = "."+name, value, other
	}
	return different(names, as, bs, "…")
}

// items returns the fields of a struct, or the elements of a list. Values may have spaces: "&Unit 5", "map of 2 entries".
func items(s string, fields bool) (all []string) {
	for i, word := range split(s, " ") {
		name, _, ok := strings.Cut(word, ":")
		more := fields && !(ok && token.IsIdentifier(name))
		if !fields && i > 0 {
			last := all[len(all)-1]
			more = strings.HasPrefix(last, "&") && !strings.ContainsAny(last, " {") && !strings.HasPrefix(word, "&")
		}
		if more && i > 0 {
			all[len(all)-1] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}

// bare returns what a struct or a list has, or "" if its text is not whole.
func bare(s string) string {
	if len(s) < 2 || !strings.ContainsAny(s[len(s)-1:], "}]") {
		return ""
	}
	return s[1 : len(s)-1]
}

// different returns the first part that differs. A text with cut in it is not whole.
func different(names, as, bs []string, cut string) (part, x, y string, more int) {
	for i := range as {
		if as[i] == bs[i] {
			continue
		}
		if part != "" {
			more++
		} else if part, x, y = names[i], as[i], bs[i]; cut != "" && (strings.Contains(x, cut) || strings.Contains(y, cut)) {
			return "", "", "", 0
		}
	}
	return part, x, y, more
}

// parameters returns the names in the text of a call's beginning, such as "game.(*World).hit(w, by)".
func parameters(text string) []string {
	open := strings.LastIndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") || open+2 > len(text)-1 {
		return nil
	}
	return strings.Split(text[open+1:len(text)-1], ", ")
}

// split cuts a text at separators that are in no brackets and no string.
func split(s, separator string) (all []string) {
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], separator):
			all = append(all, s[from:i])
			from = i + len(separator)
		}
	}
	return append(all, s[from:])
}

// valuesText returns the values of a finding, or the first part in which they differ with how it is called.
func valuesText(text string, values [2]string) string {
	part, x, y, more := narrow(text, values[0], values[1])
	text = strings.TrimSpace(text)
	both := pair(x, y)
	switch {
	case part == "":
		return fmt.Sprintf("%s is %s", text, both)
	case more > 0:
		return fmt.Sprintf("%s of %s is %s, and %s", strings.TrimPrefix(part, "."), text, both, words.Count(more, "more part"))
	}
	return fmt.Sprintf("%s of %s is %s", strings.TrimPrefix(part, "."), text, both)
}

// pair returns two values as text, see shorter.
func pair(x, y string) string {
	x, y = shorter(x, y)
	return none(x) + " | " + none(y)
}

// shorter returns of structs only the first field, if that is enough to tell them apart.
func shorter(x, y string) (string, string) {
	if a, b := short(x), short(y); a != b {
		return a, b
	}
	return x, y
}

func isStruct(s string) bool { return strings.HasPrefix(s, "{") }

// short returns a struct with its first field only.
func short(s string) string {
	if isStruct(s) {
		if all := items(bare(s), true); len(all) > 1 {
			return "{" + all[0] + " …}"
		}
	}
	return s
}

func none(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
