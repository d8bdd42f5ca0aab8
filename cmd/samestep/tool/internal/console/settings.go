//go:build !js

package console

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"
)

// A Setting is a key of the settings file: the meaning and default of its flag, and its values. Each is also an environment variable.
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
	if s.Check != nil {
		if err := s.Check(c, s.Name()); err != nil {
			return err
		}
	}
	if text := c.String(s.Name()); s.Words != nil && !slices.Contains(s.Words, text) {
		return Wrongf(c, s.Name(), "got %q, want %s", text, orList(s.Words))
	}
	return nil
}

// orList returns words as "a, b or c".
func orList(words []string) string {
	n := len(words) - 1
	if n == 0 {
		return words[0]
	}
	return strings.Join(words[:n], ", ") + " or " + words[n]
}

// Address refuses values other than HOST:PORT and some words, of which "" is not named. A word such as unix:PATH allows all values
// with its beginning.
func Address(words ...string) func(*cli.Context, string) error {
	return func(c *cli.Context, name string) error {
		values := []string{c.String(name)}
		if list, ok := c.Value(name).(cli.StringSlice); ok {
			values = list.Value()
		}
		for _, text := range values {
			host, port, err := net.SplitHostPort(text)
			_, wrong := strconv.ParseUint(port, 10, 16)
			if err == nil && wrong == nil && !strings.ContainsAny(host, "/ ") {
				continue
			}
			if !slices.ContainsFunc(words, func(word string) bool {
				begin, _, prefix := strings.Cut(word, ":")
				return text == word || prefix && strings.HasPrefix(text, begin+":") && len(text) > len(begin)+1
			}) {
				named := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "" })
				return Wrongf(c, name, "got %q, want %s", text, orList(append([]string{"HOST:PORT with a port of 0 to 65535"}, named...)))
			}
		}
		return nil
	}
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

// originsKey is where a context has how the user has written each setting, see [spelled].
type originsKey struct{}

// beginOrigins returns the origins of the settings that the command line and the environment have set, and keeps them in c.
func beginOrigins(c *cli.Context) map[string]string {
	origins, given := map[string]string{}, c.LocalFlagNames() // also those of the environment
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		d, ok := bare(f).(cli.DocGenerationFlag)
		_, list := c.Value(name).(cli.StringSlice)
		if ok && f.IsSet() && len(d.GetEnvVars()) > 0 && (list || ownValue(d) == fmt.Sprint(c.Value(name))) {
			origins[name] = d.GetEnvVars()[0]
		} else if slices.Contains(given, name) {
			origins[name] = "--" + name
		}
	}
	c.Context = context.WithValue(c.Context, originsKey{}, origins)
	return origins
}

// ownValue returns the value that a flag has by itself: of its variable, or its default.
func ownValue(f cli.DocGenerationFlag) string {
	if b, ok := f.(*cli.BoolFlag); ok {
		return strconv.FormatBool(b.Value) // the library tells none
	}
	return f.GetValue()
}

// spelled returns a setting as the user has written it: as a flag, a variable, a pair of --set or a line of the file. One at its
// default is --NAME if it is a flag of the verb, or else NAME.
func spelled(c *cli.Context, name string) string {
	if origins, _ := c.Context.Value(originsKey{}).(map[string]string); origins[name] != "" {
		return origins[name]
	}
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
	_, is := bare(f).(*cli.BoolFlag)
	return is
}

// bare returns the flag of a setting, or f.
func bare(f cli.Flag) cli.Flag {
	if s, ok := f.(*Setting); ok {
		return s.Flag
	}
	return f
}

// A pairsFlag is a flag for pairs KEY=VALUE, each as it was written: lists of the library split values at commas.
type pairsFlag struct{ Name, usage string }

// SetFlag sets keys of the settings file.
var SetFlag = &pairsFlag{"set", "set KEY of the settings file, such as --set max-matches=20; overrides the file; repeat the flag for several keys and for those of a list"}

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
var SettingsFlag = &cli.StringFlag{Name: "settings", Usage: "`FILE` in YAML with lines such as \"tick-rate: 30\"; the command line and the environment override it; a running server rereads limits when the file changes"}

// WriteSettingsFlag asks for a first settings file.
var WriteSettingsFlag = &cli.StringFlag{Name: "write-settings", Usage: "write a --settings `FILE` with safe settings for a server behind a proxy, and an admin's token in a file next to it, and exit; other flags and --set change its values"}

// PrintSettingsFlag asks for all settings.
var PrintSettingsFlag = &cli.BoolFlag{Name: "print-settings", Usage: "print a --settings file with every key, its meaning and its value, and exit"}

// maxSettings is the largest size of a settings file, in bytes.
const maxSettings = 1 << 20

// ReadSettings sets what --set says, and what the file of --settings has and the command line and the environment leave out.
func ReadSettings(c *cli.Context) error {
	origins := beginOrigins(c)
	if HasFlag(c.Command, SetFlag.Name) {
		for _, pair := range c.Value(SetFlag.Name).(Pairs) {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				return Usagef("--%s: got %q, want KEY=VALUE", SetFlag.Name, pair)
			}
			if err := knownSetting(c, name); err != nil {
				return Usagef("--%s: %v", SetFlag.Name, err)
			}
			before, typed := c.Value(name), strings.HasPrefix(origins[name], "--")
			if err := set(c, name, value); err != nil {
				return Usagef("--%s %v", SetFlag.Name, err)
			}
			if _, list := before.(cli.StringSlice); typed && !list && c.Value(name) != before {
				return Usagef("--%s %s: got %v and %v, want one value", SetFlag.Name, name, before, c.Value(name))
			}
			origins[name] = "--" + SetFlag.Name + " " + name
		}
	}
	if path := c.String(SettingsFlag.Name); path != "" {
		return ReadFile(c, path)
	}
	return nil
}

// ReadFile sets what a file has and is not set yet.
func ReadFile(c *cli.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return err
	}
	if len(b) > maxSettings {
		return Usagef("%s: got a file of more than %d bytes, want less", path, maxSettings)
	}
	if err := applySettings(c, path, b); err != nil {
		return Usagef("%s: %v", path, err)
	}
	return nil
}

// applySettings sets the flags in the content of a settings file.
func applySettings(c *cli.Context, path string, file []byte) error {
	origins, _ := c.Context.Value(originsKey{}).(map[string]string)
	var document yaml.Node
	if err := yaml.Unmarshal(file, &document); err != nil {
		return err
	}
	if len(document.Content) == 0 { // only comments
		return nil
	}
	table := document.Content[0]
	if table.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: want lines such as \"tick-rate: 30\"", table.Line)
	}
	lines := make(map[string]int)
	for i := 0; i < len(table.Content); i += 2 {
		name := table.Content[i]
		if first := lines[name.Value]; first > 0 {
			return fmt.Errorf("line %d: got %s again, after line %d", name.Line, name.Value, first)
		}
		lines[name.Value] = name.Line
		stronger := c.IsSet(name.Value)
		if err := applySetting(c, name.Value, table.Content[i+1]); err != nil {
			return fmt.Errorf("line %d: %w", name.Line, err)
		}
		if !stronger {
			origins[name.Value] = fmt.Sprintf("%s: line %d: %s", path, name.Line, name.Value)
		}
	}
	return nil
}

// knownSetting returns an error unless a file can have the key.
func knownSetting(c *cli.Context, name string) error {
	var known []string
	for _, f := range c.Command.Flags {
		key := f.Names()[0]
		if s, ok := f.(*Setting); ok && s.Where == AsCommand || key == SettingsFlag.Name || key == cli.HelpFlag.Names()[0] {
			if key == name {
				return fmt.Errorf("%s: got it in a settings file, want it on the command line", name)
			}
			continue
		}
		known = append(known, key)
	}
	if !slices.Contains(known, name) {
		list := ""
		if HasFlag(c.Command, PrintSettingsFlag.Name) {
			list = "; " + c.Command.Name + " --" + PrintSettingsFlag.Name + " has all"
		}
		return fmt.Errorf("unknown setting %q%s%s", name, list, DidYouMean(name, known))
	}
	return nil
}

// set sets a setting.
func set(c *cli.Context, name, value string) error {
	if c.Set(name, value) != nil { // its error is only "parse error"
		return fmt.Errorf("%s: got %q, want %s", name, value, wantedValue(c.Command.Flags, name))
	}
	return nil
}

// applySetting sets a flag, unless it is set already.
func applySetting(c *cli.Context, name string, value *yaml.Node) error {
	if err := knownSetting(c, name); err != nil {
		return err
	}
	values := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		if _, list := c.Value(name).(cli.StringSlice); !list {
			return fmt.Errorf("%s: got a list, want one value", name)
		}
		values = value.Content
	}
	if c.IsSet(name) {
		return nil
	}
	for _, v := range values {
		if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
			return fmt.Errorf("%s: want a value", name)
		}
		if err := set(c, name, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// wantedValue says what values the flag with a name takes.
func wantedValue(flags []cli.Flag, name string) string {
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return "another value"
	}
	switch bare(flags[i]).(type) {
	case *cli.BoolFlag:
		return "true or false"
	case *cli.DurationFlag:
		return "a time such as 30s or 1m30s"
	case *cli.UintFlag, *cli.Uint64Flag:
		return "a whole number of 0 or more"
	case *cli.IntFlag:
		return "a whole number"
	case *cli.Float64Flag:
		return "a number"
	}
	return "a value"
}

// PrintSettings prints a settings file with each key. Those at their defaults are comments.
func PrintSettings(c *cli.Context) error {
	var b strings.Builder
	comment := func(text string) {
		fmt.Fprintf(&b, "# %s\n", strings.Join(wrapped("", 0, text, maxHelp-2), "\n# "))
	}
	comment("The settings of serve. A key without # is set. Variables of the environment set keys, too: SAMESTEP_MAX_MATCHES is max-matches.")
	comment("A running server reads its file again when it changes, and at a SIGHUP. Keys that are \"live\" change then, and the others at the next start.")
	group := ""
	for _, s := range SettingsIn(c.Command.Flags) {
		if s.Where == AsCommand {
			continue
		}
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n# ---- %s ----\n", group)
		}
		b.WriteString("\n")
		comment(s.Meaning())
		line, err := s.line(c)
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(c.App.Writer, b.String())
	return err
}

// Meaning returns what a setting is.
func (s *Setting) Meaning() string {
	text := strings.ReplaceAll(s.Flag.(cli.DocGenerationFlag).GetUsage(), "`", "")
	if _, list := s.Flag.(*cli.StringSliceFlag); list {
		text += "; a list"
	}
	if words := reflect.ValueOf(s.Flag).Elem().FieldByName("DefaultText").String(); words != "" { // each flag of the library has it
		text += "; default: " + words
	}
	if s.Live {
		text += "; live"
	}
	return text
}

// line returns the line of a setting in a file, which is a comment unless it is set.
func (s *Setting) line(c *cli.Context) (string, error) {
	value, mark := c.Value(s.Name()), "#"
	switch v := value.(type) {
	case cli.StringSlice:
		value = append([]string{}, v.Value()...)
	case time.Duration:
		value = v.String()
	}
	if c.IsSet(s.Name()) {
		mark = ""
	}
	text, err := YAMLInLine(value)
	return mark + s.Name() + ": " + text, err
}

// YAMLInLine returns a value in one line.
func YAMLInLine(value any) (string, error) {
	var node yaml.Node
	if scalar, ok := value.(yaml.Node); ok {
		node = scalar
	} else if err := node.Encode(value); err != nil {
		return "", err
	}
	node.Style |= yaml.FlowStyle
	b, err := yaml.Marshal(&node)
	return strings.TrimSpace(string(b)), err
}
