//go:build !js

package console

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"
)

// WriteSettingsFlag asks for a first settings file.
var WriteSettingsFlag = &cli.StringFlag{Name: "write-settings", Usage: "write `FILE` for --settings with the safe start of a server behind a proxy, and the token of an admin beside it; nothing is served; other flags and --set change what it has"}

// PrintSettingsFlag asks for all settings.
var PrintSettingsFlag = &cli.BoolFlag{Name: "print-settings", Usage: "print a file for --settings with each key, what it means and its value, and exit"}

// maxSettings is the largest size of a settings file, in bytes.
const maxSettings = 1 << 20

// ReadSettings sets what --set says, and what the file of --settings has and the command line and the environment leave out.
func ReadSettings(c *cli.Context) error {
	if HasFlag(c.Command, SetFlag.Name) {
		for _, pair := range c.Value(SetFlag.Name).(Pairs) {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				return Usagef("--%s: got %q, want KEY=VALUE", SetFlag.Name, pair)
			}
			if err := cmp.Or(knownSetting(c, name), set(c, name, value)); err != nil {
				return Usagef("--%s: %v", SetFlag.Name, err)
			}
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
	if err := applySettings(c, b); err != nil {
		return Usagef("%s: %v", path, err)
	}
	return nil
}

// applySettings sets the flags in the content of a settings file.
func applySettings(c *cli.Context, file []byte) error {
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
		if err := applySetting(c, name.Value, table.Content[i+1]); err != nil {
			return fmt.Errorf("line %d: %w", name.Line, err)
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
		return fmt.Errorf("%s: got %q, want %s", name, value, wantedValue(c.Value(name)))
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

// wantedValue says what values a flag takes, by the type of its value.
func wantedValue(value any) string {
	switch value.(type) {
	case bool:
		return "true or false"
	case time.Duration:
		return "a time such as 30s or 1m30s"
	case uint, uint64:
		return "a whole number from 0 on"
	}
	return "another value"
}
