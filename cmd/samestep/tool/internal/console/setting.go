//go:build !js

package console

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// A Setting is something that an operator can choose: a key of the settings file with its meaning and default, which are those of the
// flag, and the values that it can have. Each is also a variable of the environment.
type Setting struct {
	cli.Flag
	Group string
	Where Place
	Live  bool // a running server takes a new value from the file

	Words []string                                // the values that it can have; nil: others, too
	Check func(c *cli.Context, name string) error // refuses a value; nil: none of its type
}

// A Place is where people say a setting.
type Place uint8

const (
	InFile    Place = iota // a key of the file
	Anywhere               // a key of the file and a flag
	AsCommand              // only a flag, such as --check-config
)

// IsVisible implements [cli.VisibleFlag]: keys are not in the help.
func (s *Setting) IsVisible() bool { return s.Where != InFile }

// GetCategory implements [cli.CategorizableFlag].
func (s *Setting) GetCategory() string { return s.Group }

// Name returns the key.
func (s *Setting) Name() string { return s.Names()[0] }

// Refuse returns the error of a value that the setting cannot have, or nil.
func (s *Setting) Refuse(c *cli.Context) error {
	if text := c.String(s.Name()); s.Words != nil && !slices.Contains(s.Words, text) {
		return Usagef("%s: got %q, want %s", Spelled(c, s.Name()), text, orList(s.Words))
	}
	if s.Check == nil {
		return nil
	}
	return s.Check(c, s.Name())
}

// orList returns words as "a, b or c".
func orList(words []string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " or " + words[n]
}

// Within refuses values out of a range. A high of 0 sets no upper limit.
func Within[T int | uint | time.Duration](low, high T) func(*cli.Context, string) error {
	return func(c *cli.Context, name string) error { return Between(c, name, low, high) }
}

// SettingsIn returns the settings among flags.
func SettingsIn(flags []cli.Flag) (all []*Setting) {
	for _, f := range flags {
		if s, ok := f.(*Setting); ok {
			all = append(all, s)
		}
	}
	return all
}

// SettingOf returns the setting with a name, or nil.
func SettingOf(flags []cli.Flag, name string) *Setting {
	for _, s := range SettingsIn(flags) {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// CheckSettings checks the value of each setting for itself.
func CheckSettings(c *cli.Context) error {
	for _, s := range SettingsIn(c.Command.Flags) {
		if err := s.Refuse(c); err != nil {
			return err
		}
	}
	return nil
}

// Spelled returns a setting as people write it: --NAME if it is a flag of the verb, or else NAME, a key of the file.
func Spelled(c *cli.Context, name string) string {
	if s := SettingOf(c.Command.Flags, name); s != nil && s.Where == InFile {
		return name
	}
	return "--" + name
}

// RefuseKeys refuses keys of the settings file on a command line.
func RefuseKeys(app *cli.App, args []string) error {
	if len(args) < 2 {
		return nil
	}
	i := slices.IndexFunc(app.Commands, func(c *cli.Command) bool { return c.HasName(args[1]) })
	if i < 0 {
		return nil
	}
	for at, arg := range args[2:] {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		s := SettingOf(app.Commands[i].Flags, name)
		switch {
		case arg == "--":
			return nil
		case s == nil || s.Where != InFile || !strings.HasPrefix(arg, "-"):
			continue
		case !given && IsBool(s):
			value = "true"
		case !given && at+3 < len(args):
			value = args[at+3]
		}
		value = cmp.Or(value, "VALUE")
		return &usageError{app.Commands[i].Name, fmt.Sprintf("--%s: it is a key of the settings file, want --%s %[1]s=%[3]s, or a line \"%[1]s: %[3]s\" in the file of --%[4]s",
			name, SetFlag.Name, value, SettingsFlag.Name)}
	}
	return nil
}

// IsBool reports whether a flag takes no value.
func IsBool(f cli.Flag) bool {
	if s, ok := f.(*Setting); ok {
		f = s.Flag
	}
	_, is := f.(*cli.BoolFlag)
	return is
}

// A pairsFlag is a flag for pairs KEY=VALUE, each as it was written: lists of the library split values at commas.
type pairsFlag struct{ Name, usage string }

// SetFlag sets keys of the settings file.
var SetFlag = &pairsFlag{"set", "set KEY of the settings file, such as --set max-matches=20; stronger than the file; repeat the flag for several keys and for those of a list"}

// String implements [cli.Flag].
func (f *pairsFlag) String() string { return "--" + f.Name + " KEY=VALUE\t" + f.usage }

// Apply implements [cli.Flag].
func (f *pairsFlag) Apply(set *flag.FlagSet) error {
	set.Var(new(Pairs), f.Name, f.usage)
	return nil
}

// Names implements [cli.Flag].
func (f *pairsFlag) Names() []string { return []string{f.Name} }

// IsSet implements [cli.Flag]: no variable sets it.
func (f *pairsFlag) IsSet() bool { return false }

// Pairs is the value of a pairsFlag.
type Pairs []string

// Set implements [flag.Value].
func (p *Pairs) Set(text string) error {
	*p = append(*p, text)
	return nil
}

// String implements [flag.Value].
func (p *Pairs) String() string { return fmt.Sprint(*p) }

// Get implements [flag.Getter].
func (p *Pairs) Get() any { return *p }

// SettingsFlag names a file with the settings of its verb.
var SettingsFlag = &cli.StringFlag{Name: "settings", Usage: "`FILE` in YAML with lines such as \"tick-rate: 30\"; the command line and the environment are stronger; a running server reads limits again when the file changes"}
