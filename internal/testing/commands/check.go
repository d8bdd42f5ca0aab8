package commands

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Programs run a command line of one of our programs, which Verb names, and return its exit code.
type Programs func(program string, args []string, stdout, stderr io.Writer) int

// Check asks the programs for the help of each verb that the command starts, with its flags: the verb and the flags must exist, and
// take the values and as many arguments. In a sentence, arguments and the value of the last flag may be missing. It returns how many
// verbs there were.
func (c Command) Check(run Programs) (verbs int, err error) {
	calls, err := c.Calls()
	if err != nil {
		return 0, err
	}
	for _, call := range calls {
		program, args := call.Verb()
		if program == "" {
			continue
		}
		verbs++
		if wrong := c.wrong(run, program, fill(args)); wrong != "" {
			return verbs, fmt.Errorf("%s: %q: %s", c.At(), c.Text, wrong)
		}
	}
	return verbs, nil
}

// wrong returns what is wrong with a command line, or "".
func (c Command) wrong(run Programs, program string, args []string) string {
	verb, help := verbOf(run, program, args)
	_, usage, _ := strings.Cut(help, "USAGE:\n")
	usage, _, _ = strings.Cut(usage, "\n")
	usage = strings.TrimPrefix(strings.TrimSpace(usage), strings.Join(append([]string{program}, verb...), " "))
	for _, word := range []string{" [command options]", " [global options]", " command"} {
		usage = strings.Replace(usage, word, "", 1)
	}
	flags, given := sort(help, args[len(verb):])
	if n := len(flags) - 1; c.Span && n >= 0 && valued(help, flags[n]) {
		flags = flags[:n]
	}
	var out, errs bytes.Buffer
	if code := run(program, slices.Concat(verb, flags, []string{"--help"}), &out, &errs); code != 0 {
		return strings.TrimSpace(errs.String())
	}
	for i, flag := range flags {
		if flag != "--set" || i+1 == len(flags) {
			continue
		}
		if code := run(program, slices.Concat(verb, flags[i:i+2], []string{"--print-settings"}), &out, &errs); code != 0 { // the help reads no keys
			return strings.TrimSpace(errs.String())
		}
	}
	if !takes(usage, given, c.Span) {
		return fmt.Sprintf("got the arguments %q, want%s", given, usage)
	}
	return ""
}

// verbOf returns the words of the verb with which a command line begins, and its help.
func verbOf(run Programs, program string, args []string) (verb []string, help string) {
	for n := min(2, len(args)); n >= 0; n-- {
		if slices.ContainsFunc(args[:n], func(a string) bool { return strings.HasPrefix(a, "-") }) {
			continue
		}
		var out bytes.Buffer
		if run(program, append(slices.Clone(args[:n]), "--help"), &out, io.Discard) == 0 {
			return args[:n], out.String()
		}
	}
	return nil, ""
}

// numbers are the words that stand for a number.
var numbers = []string{"T", "N", "TICK"}

// fill leaves out what stands for more words, and what says that a word is optional, and replaces the words that stand for a number.
func fill(args []string) []string {
	var filled []string
	for _, a := range args {
		a = strings.NewReplacer("[", "", "]", "").Replace(a)
		if slices.Contains(numbers, a) {
			a = "1"
		}
		if a != "…" {
			filled = append(filled, a)
		}
	}
	return filled
}

// valued reports whether the help shows a flag with a value.
func valued(help, flag string) bool {
	return strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") &&
		regexp.MustCompile(`(?m)^ +(?:-\w, )?--?`+regexp.QuoteMeta(strings.TrimLeft(flag, "-"))+`(?:, --?\w+)* \S`).MatchString(help)
}

// sort returns the flags of a command line with their values, and the other arguments.
func sort(help string, args []string) (flags, given []string) {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") || args[i] == "-" {
			given = append(given, args[i])
			continue
		}
		flag := args[i]
		flags = append(flags, flag)
		if valued(help, flag) && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	return flags, given
}

// takes reports whether a usage such as " A B | A --player N" or " FILE [OUT]" has a form for the arguments; for fewer if they need
// not be all.
func takes(usage string, given []string, fewer bool) bool {
	return slices.ContainsFunc(strings.Split(usage, " | "), func(form string) bool {
		form, _, _ = strings.Cut(form, " --")
		words := strings.Fields(form)
		n, optional := len(given), strings.Count(form, "[")
		return (fewer || n >= len(words)-optional) && (n <= len(words) || strings.Contains(form, "..."))
	})
}
