//go:build !js

package console

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"
)

// PrintSettings prints a settings file with each key. Those at their defaults are comments.
func PrintSettings(c *cli.Context) error {
	var b strings.Builder
	comment := func(text string) {
		fmt.Fprintf(&b, "# %s\n", strings.Join(wrapped("", 0, text, MaxHelp-2), "\n# "))
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
