package desync

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// quoted matches a string in a text, up to the end if it has none.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*("|$)`)

// masked replaces the strings in a text. The name of a field in a line of JSON stays: a colon without a space follows it.
func masked(text string) string {
	var b strings.Builder
	done := 0
	for _, at := range quoted.FindAllStringIndex(text, -1) {
		if rest := text[at[1]:]; len(rest) > 1 && rest[0] == ':' && rest[1] != ' ' {
			continue
		}
		b.WriteString(text[done:at[0]] + `"…"`)
		done = at[1]
	}
	return b.String() + text[done:]
}

// redact removes what people have written: names of players, and strings in states, commands and results.
func (e *Explanation) redact() {
	e.Redacted = true
	for i := range e.Who {
		e.Who[i].Name = ""
	}
	for i := range e.Groups {
		e.Groups[i].Names = nil
	}
	for i := range e.Fields.List {
		mask(&e.Fields.List[i].A, &e.Fields.List[i].B)
	}
	for i := range e.Places.List {
		mask(&e.Places.List[i].First.A, &e.Places.List[i].First.B)
	}
	if e.top != nil {
		mask(&e.top.First.A, &e.top.First.B)
	}
	e.Cause.redact()
	for i := range e.Changes {
		c := &e.Changes[i]
		mask(&c.Before, &c.After)
		c.Command.redact()
	}
	for i := range e.Commands {
		e.Commands[i].Command.redact()
	}
	if e.Ending != nil {
		mask(&e.Ending.Text)
		for _, result := range []*json.RawMessage{&e.Ending.Ours, &e.Ending.Log} {
			*result = json.RawMessage(masked(string(*result)))
		}
	}
	e.redactPanic()
	for i := range e.Notes {
		mask(&e.Notes[i])
	}
}

// redactPanic removes what people may have written, and folders of the machine that built the program.
func (e *Explanation) redactPanic() {
	if e.Panic == nil {
		return
	}
	mask(&e.Panic.Text, &e.Panic.Here)
	e.Panic.Stack = strings.Join(slices.Concat(functionsOf(e.Panic.Stack), []string{""}), "\n")
}

func (c *Cause) redact() {
	if c == nil {
		return
	}
	mask(&c.Text, &c.Right, &c.Wrong)
	c.Command.redact()
	for _, other := range c.Others {
		other.redact()
	}
}

func (c *Command) redact() {
	if c != nil {
		mask(&c.Text)
	}
}

func mask(texts ...*string) {
	for _, t := range texts {
		*t = masked(*t)
	}
}
