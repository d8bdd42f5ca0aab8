//go:build !js

package tool

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// A setting is something that an operator can choose: a key of the settings file with its meaning and default, which are those of the
// flag, and the values that it can have. Each is also a variable of the environment.
type setting struct {
	cli.Flag
	group string
	where place
	live  bool // a running server takes a new value from the file

	words []string                                // the values that it can have; nil: others, too
	check func(c *cli.Context, name string) error // refuses a value; nil: none of its type
}

// A place is where people say a setting.
type place uint8

const (
	inFile    place = iota // a key of the file
	anywhere               // a key of the file and a flag
	asCommand              // only a flag, such as --check-config
)

// IsVisible implements [cli.VisibleFlag]: keys are not in the help.
func (s *setting) IsVisible() bool { return s.where != inFile }

// GetCategory implements [cli.CategorizableFlag].
func (s *setting) GetCategory() string { return s.group }

// name returns the key.
func (s *setting) name() string { return s.Names()[0] }

// refuse returns the error of a value that the setting cannot have, or nil.
func (s *setting) refuse(c *cli.Context) error {
	if text := c.String(s.name()); s.words != nil && !slices.Contains(s.words, text) {
		return usagef("%s: got %q, want %s", spelled(c, s.name()), text, orList(s.words))
	}
	if s.check == nil {
		return nil
	}
	return s.check(c, s.name())
}

// orList returns words as "a, b or c".
func orList(words []string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " or " + words[n]
}

// within refuses values out of a range. A high of 0 sets no upper limit.
func within[T int | uint | time.Duration](low, high T) func(*cli.Context, string) error {
	return func(c *cli.Context, name string) error { return between(c, name, low, high) }
}

// settingsIn returns the settings among flags.
func settingsIn(flags []cli.Flag) (all []*setting) {
	for _, f := range flags {
		if s, ok := f.(*setting); ok {
			all = append(all, s)
		}
	}
	return all
}

// settingOf returns the setting with a name, or nil.
func settingOf(flags []cli.Flag, name string) *setting {
	for _, s := range settingsIn(flags) {
		if s.name() == name {
			return s
		}
	}
	return nil
}

// checkSettings checks the value of each setting for itself.
func checkSettings(c *cli.Context) error {
	for _, s := range settingsIn(c.Command.Flags) {
		if err := s.refuse(c); err != nil {
			return err
		}
	}
	return nil
}

// spelled returns a setting as people write it: --NAME if it is a flag of the verb, or else NAME, a key of the file.
func spelled(c *cli.Context, name string) string {
	if s := settingOf(c.Command.Flags, name); s != nil && s.where == inFile {
		return name
	}
	return "--" + name
}

// refuseKeys refuses keys of the settings file on a command line.
func refuseKeys(app *cli.App, args []string) error {
	if len(args) < 2 {
		return nil
	}
	i := slices.IndexFunc(app.Commands, func(c *cli.Command) bool { return c.HasName(args[1]) })
	if i < 0 {
		return nil
	}
	for at, arg := range args[2:] {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		s := settingOf(app.Commands[i].Flags, name)
		switch {
		case arg == "--":
			return nil
		case s == nil || s.where != inFile || !strings.HasPrefix(arg, "-"):
			continue
		case !given && isBool(s):
			value = "true"
		case !given && at+3 < len(args):
			value = args[at+3]
		}
		value = cmp.Or(value, "VALUE")
		return &usageError{app.Commands[i].Name, fmt.Sprintf("--%s: it is a key of the settings file, want --%s %[1]s=%[3]s, or a line \"%[1]s: %[3]s\" in the file of --%[4]s",
			name, setFlag.name, value, settingsFlag.Name)}
	}
	return nil
}

// isBool reports whether a flag takes no value.
func isBool(f cli.Flag) bool {
	if s, ok := f.(*setting); ok {
		f = s.Flag
	}
	_, is := f.(*cli.BoolFlag)
	return is
}

// A pairsFlag is a flag for pairs KEY=VALUE, each as it was written: lists of the library split values at commas.
type pairsFlag struct{ name, usage string }

// setFlag sets keys of the settings file.
var setFlag = &pairsFlag{"set", "set KEY of the settings file, such as --set max-matches=20; stronger than the file; repeat the flag for several keys and for those of a list"}

// String implements [cli.Flag].
func (f *pairsFlag) String() string { return "--" + f.name + " KEY=VALUE\t" + f.usage }

// Apply implements [cli.Flag].
func (f *pairsFlag) Apply(set *flag.FlagSet) error {
	set.Var(new(pairs), f.name, f.usage)
	return nil
}

// Names implements [cli.Flag].
func (f *pairsFlag) Names() []string { return []string{f.name} }

// IsSet implements [cli.Flag]: no variable sets it.
func (f *pairsFlag) IsSet() bool { return false }

// pairs is the value of a pairsFlag.
type pairs []string

// Set implements [flag.Value].
func (p *pairs) Set(text string) error {
	*p = append(*p, text)
	return nil
}

// String implements [flag.Value].
func (p *pairs) String() string { return fmt.Sprint(*p) }

// Get implements [flag.Getter].
func (p *pairs) Get() any { return *p }
