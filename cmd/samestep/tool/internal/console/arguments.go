//go:build !js

package console

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
)

// A usageError is a mistake in the command line.
type usageError struct {
	command string // such as replay verify; empty until prepare names it
	text    string
}

func (e *usageError) Error() string {
	if e.command == "" {
		return "usage: " + e.text
	}
	return "usage: " + e.command + ": " + e.text
}

// Usagef returns an error of the command line.
func Usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// Wrongf returns an error of the command line about a flag or a setting, as the user has written its name.
func Wrongf(c *cli.Context, name, format string, args ...any) error {
	return Usagef("%s: %s", spelled(c, name), fmt.Sprintf(format, args...))
}

// IsUsage reports whether an error is one of the command line.
func IsUsage(err error) bool { return errors.As(err, new(*usageError)) }

// NameCommand adds the command to a usage error, and returns err.
func NameCommand(err error, c *cli.Command) error {
	var usage *usageError
	if errors.As(err, &usage) {
		usage.command = usageName(c.HelpName)
	}
	return err
}

// usageName returns a command's name without that of the program.
func usageName(help string) string {
	_, command, _ := strings.Cut(help, " ")
	return command
}

// CheckArguments compares the number of arguments with the command's ArgsUsage.
func CheckArguments(c *cli.Context) error {
	want := c.Command.ArgsUsage
	switch {
	case takes(want, c.NArg()):
		return nil
	case want == "":
		return Usagef("unexpected argument %q", c.Args().First())
	}
	return Usagef("got %s, want %s", Count(c.NArg(), "argument"), want)
}

// takes reports whether a usage such as "A B | A --player N" or "FILE [OUT]" has a form with n arguments.
func takes(usage string, n int) bool {
	return slices.ContainsFunc(strings.Split(usage, " | "), func(form string) bool {
		form, _, _ = strings.Cut(form, " --") // a flag is not an argument
		words := strings.Fields(form)
		optional := strings.Count(form, "[")
		return n >= len(words)-optional && (n <= len(words) || strings.Contains(form, "..."))
	})
}

// Between returns a usage error unless the value of a flag is in a range. A high of 0 sets no upper limit.
func Between[T int | uint | time.Duration](c *cli.Context, flag string, low, high T) error {
	switch got := c.Value(flag).(T); {
	case got >= low && (high == 0 || got <= high):
		return nil
	case high == 0:
		return Wrongf(c, flag, "got %v, want at least %v", got, low)
	default:
		return Wrongf(c, flag, "got %v, want %v to %v", got, low, high)
	}
}

// FlagsFirst moves flags before other arguments: people write "verify FILE --json", and the cli library stops at the first argument.
func FlagsFirst(app *cli.App, args []string) []string {
	at, commands := 1, app.Commands
	var flags []cli.Flag
	for at < len(args) && len(commands) > 0 {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[at]) })
		if i < 0 {
			return args // help, a flag of the whole program, or a mistake, which the library handles
		}
		flags, commands = commands[i].Flags, commands[i].Subcommands
		at++
	}
	var first, rest []string
	for i := at; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case len(arg) < 2 || arg[0] != '-':
			rest = append(rest, arg)
		default:
			first = append(first, arg)
			if TakesValue(flags, arg) && i+1 < len(args) {
				i++
				first = append(first, args[i])
			}
		}
	}
	if len(rest) > 0 {
		rest = append([]string{"--"}, rest...)
	}
	return slices.Concat(args[:at], first, rest)
}

// TakesValue reports whether the value of a flag is the next argument.
func TakesValue(flags []cli.Flag, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return false
	}
	return !IsBool(flags[i])
}

// HasFlag reports whether a command has a flag.
func HasFlag(c *cli.Command, name string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == name })
}

// TokenEnv names the environment variable with a client's token.
const TokenEnv = "SAMESTEP_TOKEN"

// FromEnvironment returns copies of flags that a variable of the environment sets if the command line leaves them out:
// SAMESTEP_TICK_RATE sets --tick-rate. Variables with another meaning set no flag.
func FromEnvironment(flags []cli.Flag) (all []cli.Flag) {
	for _, f := range flags {
		vars := []string{"SAMESTEP_" + strings.ToUpper(strings.ReplaceAll(f.Names()[0], "-", "_"))}
		if vars[0] == TokensEnv || vars[0] == TokenEnv {
			vars = nil
		}
		if list, ok := f.(*cli.StringSliceFlag); ok {
			f = ListFrom(list, vars...)
		} else if old := reflect.ValueOf(f).Elem(); old.FieldByName("EnvVars").IsValid() { // the library's flags have it
			same := reflect.New(old.Type())
			same.Elem().Set(old)
			same.Elem().FieldByName("EnvVars").Set(reflect.ValueOf(vars))
			f = same.Interface().(cli.Flag)
		}
		all = append(all, f)
	}
	return all
}

// ListFrom returns a copy of a flag that variables set. One that is set but empty sets no item.
func ListFrom(f *cli.StringSliceFlag, vars ...string) *cli.StringSliceFlag {
	same := *f
	same.EnvVars = slices.DeleteFunc(vars, func(name string) bool {
		value, set := os.LookupEnv(name)
		return set && value == ""
	})
	return &same
}

// TokensEnv names the environment variable with a list of tokens.
const TokensEnv = "SAMESTEP_TOKENS"

// RandomFlags are those of verbs that play random commands.
var RandomFlags = []cli.Flag{
	&cli.StringSliceFlag{Name: "weight", Usage: "how often random commands of a kind come, as `KIND=N`: 0 for never, 1 for a kind without a weight; repeat the flag for several kinds"},
	&cli.StringFlag{Name: "allow-thin", Usage: "accept matches in which most commands do nothing, for a `REASON`"},
}

// Weights returns the weights of --weight, or nil.
func Weights(c *cli.Context) (map[string]int, error) {
	var all map[string]int
	for _, text := range c.StringSlice("weight") {
		at := strings.LastIndexByte(text, '=')
		n, err := strconv.ParseUint(text[at+1:], 10, 31)
		if at < 1 || err != nil {
			return nil, Usagef("--weight: got %q, want the name of a kind of command, = and a number, such as \"give up=0\"", text)
		}
		if all == nil {
			all = map[string]int{}
		}
		all[text[:at]] = int(n)
	}
	return all, nil
}

// ThinHint adds the flags to an error that tells of the same options in Go. more are flags for larger matches, or "".
func ThinHint(err error, more string) error {
	if errors.Is(err, locksteptest.ErrThin) {
		return fmt.Errorf("%w\nas flags: %s--weight KIND=0, --allow-thin REASON", err, more)
	}
	return err
}

// otherWords are flags of other programs, with ours.
var otherWords = map[string]string{"--for": "--time", "--duration": "--time", "--port": "--listen", "--host": "--listen", "--address": "--listen"}

// DidYouMean returns a question with the word nearest to a mistyped one, to append to an error, or "" if none is near.
func DidYouMean(got string, words []string) string {
	best, least := "", max(1, len(got)/3)+1
	for _, word := range words {
		if n := edits(got, word); n < least {
			best, least = word, n
		}
	}
	for _, word := range words {
		if best == "" && (strings.HasPrefix(got, strings.TrimSuffix(word, "s")+"-") || word == otherWords[got]) { // --token-file for --token or --tokens
			best = word
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// KeyMeant returns a question with the key of the settings file that is nearest to a mistyped flag, or nothing.
func KeyMeant(flag string, flags []cli.Flag) string {
	var keys []string
	for _, s := range SettingsIn(flags) {
		keys = append(keys, s.Name())
	}
	key := strings.TrimSuffix(strings.TrimPrefix(DidYouMean(strings.TrimPrefix(flag, "--"), keys), "; did you mean "), "?")
	if key == "" {
		return ""
	}
	return "; did you mean --" + SetFlag.Name + " " + key + "=VALUE?"
}

// CommandNames returns the names of commands.
func CommandNames(commands []*cli.Command) (names []string) {
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

// maxMistyped is the longest word that is compared with others, in bytes.
const maxMistyped = 64

// edits returns how many bytes must be added, removed, replaced or swapped with the next to make b of a.
func edits(a, b string) int {
	if len(a) > maxMistyped {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := 1
			if a[i-1] == b[j-1] {
				replaced = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// What the flag parser and the library say of mistakes.
var (
	unknownFlag   = regexp.MustCompile(`(?s)^flag provided but not defined: -+(.*)$`)
	noValue       = regexp.MustCompile(`(?s)^flag needs an argument: -(.*)$`)
	wrongValue    = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-([^:]+): `)
	wrongSyntax   = regexp.MustCompile(`(?s)^bad flag syntax: (.*)$`)
	wrongVariable = regexp.MustCompile(`(?s)^could not parse (".*") as .* from environment variable "(\w+)" for flag ([^:]+): `)
)

// FlagMistake says in our words what an error of the flag parser means, given the flags of its verb. mistyped is the flag that the verb
// does not have, with two dashes, or nothing.
func FlagMistake(err error, flags []cli.Flag) (text, mistyped string) {
	was := err.Error()
	if m := unknownFlag.FindStringSubmatch(was); m != nil {
		return "unknown flag --" + m[1], "--" + m[1]
	}
	if m := noValue.FindStringSubmatch(was); m != nil {
		return fmt.Sprintf("--%s: got no value, want %s", m[1], wantedValue(flags, m[1])), ""
	}
	if m := wrongValue.FindStringSubmatch(was); m != nil {
		return fmt.Sprintf("--%s: got %s, want %s", m[2], m[1], wantedValue(flags, m[2])), ""
	}
	if m := wrongVariable.FindStringSubmatch(was); m != nil {
		return fmt.Sprintf("%s: got %s, want %s", m[2], m[1], wantedValue(flags, m[3])), ""
	}
	if m := wrongSyntax.FindStringSubmatch(was); m != nil {
		return fmt.Sprintf("got %q, want a flag such as --help", m[1]), ""
	}
	return was, ""
}

// TokenFlag returns the flag with the token of a client, see [ClientToken].
func TokenFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "token", Usage: "your `TOKEN`, or @FILE with it; other users of this machine can see the command line, but neither the file nor the variable",
		EnvVars: []string{TokenEnv},
	}
}

// ClientToken returns the token of --token.
func ClientToken(c *cli.Context) (string, error) { return TokenIn(c, "token") }

// TokenIn returns the token of a flag with the value TOKEN or @FILE.
func TokenIn(c *cli.Context, flag string) (string, error) {
	token := c.String(flag)
	name, inFile := strings.CutPrefix(token, "@")
	if !inFile {
		return token, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", spelled(c, flag), err)
	}
	words := strings.Fields(string(b))
	if len(words) != 1 {
		return "", Wrongf(c, flag, "%s has %s, want one token and nothing else, such as the last word of a line of tokens.txt", name, Count(len(words), "word"))
	}
	return words[0], nil
}
