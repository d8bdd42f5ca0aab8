package commands

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Call is one program that a command starts.
type Call struct {
	Env  []string // variables, as NAME=VALUE
	Args []string // the program and its arguments
}

// Calls returns the programs that the command starts, in its order.
func (c Command) Calls() ([]Call, error) {
	words, err := split(c.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.At(), err)
	}
	var calls []Call
	for len(words) > 0 {
		n := slices.IndexFunc(words, func(w lexeme) bool { return w.operator })
		if n < 0 {
			n = len(words)
		}
		var call Call
		for _, w := range words[:n] {
			if len(call.Args) == 0 && assignment.MatchString(w.text) {
				call.Env = append(call.Env, w.text)
				continue
			}
			call.Args = append(call.Args, w.text)
		}
		if len(call.Args) > 0 {
			calls = append(calls, call)
		}
		words = words[min(n+1, len(words)):]
	}
	return calls, nil
}

var assignment = regexp.MustCompile(`^[A-Z][A-Z0-9_]*=`)

// A lexeme is a word of a shell, or an operator between two calls.
type lexeme struct {
	text     string
	operator bool
}

// split reads the words of a command line. It knows what documents use: quotation marks, backslashes, comments, &&, ; and |, and
// the redirection to a file, which it leaves out.
func split(text string) ([]lexeme, error) {
	var all []lexeme
	var word []byte
	begun, redirected := false, false
	end := func() {
		if begun && !redirected {
			all = append(all, lexeme{text: string(word)})
		}
		redirected = redirected && !begun
		word, begun = nil, false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			end()
		case c == '\\' && i+1 < len(text):
			i++
			word, begun = append(word, text[i]), true
		case c == '\'' || c == '"':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return nil, fmt.Errorf("%q has no end of %c", text, c)
			}
			word, begun = append(word, text[i+1:i+1+n]...), true
			i += n + 1
		case c == '#' && !begun:
			return all, nil
		case c == '>':
			end()
			redirected = true
		case c == ';' || c == '|' || c == '&':
			end()
			for i+1 < len(text) && text[i+1] == c {
				i++
			}
			all = append(all, lexeme{operator: true})
		default:
			word, begun = append(word, c), true
		}
	}
	end()
	return all, nil
}

// The programs that have our verbs.
const (
	Stock   = "samestep"
	Cluster = "samestep-cluster"
	Game    = "." // that of the reader's folder
)

// Verb returns the program of ours that a call starts, and its arguments: the call names it, or runs its sources. The program is ""
// for other calls.
func (c Call) Verb() (program string, args []string) {
	a := c.Args
	if len(a) > 2 && a[0] == "go" && (a[1] == "run" || a[1] == "tool") {
		program, args = path.Base(a[2]), a[3:]
	} else {
		program, args = path.Base(a[0]), a[1:]
	}
	switch {
	case program == Game && len(args) > 0 && (word.MatchString(args[0]) || args[0] == "--help"), program == Stock, program == Cluster:
		return program, args
	case older.MatchString(program):
		return Stock, args
	}
	return "", nil
}

// older matches the program of another build beside this one, as samestep-8.
var older = regexp.MustCompile(`^samestep-\d+$`)
