//go:build !js

package serving

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/files"
)

// safeSettings are the keys of a file that --write-settings writes, with their values. Nobody gets in without a token.
var safeSettings = []struct{ name, value, why string }{
	{"listen", "127.0.0.1:8766", "for the proxy on this machine, which has the certificate"},
	{"base-path", "/game/", "as in the proxy's file"},
	{"trusted-proxy", "127.0.0.1", "names the clients, each of which has limits of its own"},
	{"allowed-host", "", "the public names; requests for others are refused"},
	{"dir", "/var/lib/samestep", "replays, and the logs of matches that run"},
	{"tokens", "", "who gets in, and as what; see serve --help"},
	{"matches", "0", "an admin or a lobby creates them: POST /matches"},
	{"max-matches", "100", "at a time"},
	{"resume", "true", "go on with the matches that a stop or a crash has interrupted"},
	{"guests", "0", "nobody without a token"},
	{"replays", "false", "for admins and the people who played"},
	{"disk-reserve", "1073741824", "free bytes below which no match is created"},
}

// writeSettings writes the file of --write-settings and the tokens, and checks both as --check-config does.
func writeSettings(c *cli.Context) error {
	path := c.String(console.WriteSettingsFlag.Name)
	tokens := c.String("tokens")
	if tokens == "" {
		whole, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		tokens = filepath.Join(filepath.Dir(whole), "tokens")
	}
	text, err := settingsText(c, tokens)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		if err = os.MkdirAll(dir, 0o755); err == nil {
			err = os.Chmod(dir, 0o755) // whatever umask root has: the user of the server looks into it
		}
		if err != nil {
			return err
		}
	}
	if err := createWith(path, text, 0o644); err != nil { // the user of the server reads it, and it has no secret
		return err
	}
	drawn := false
	if _, err = os.Stat(tokens); err != nil {
		err = createWith(tokens, fmt.Sprintf("# role  seat  name  match  token\nadmin   -     admin -      %s\n", DrawToken()), 0o600)
		drawn = err == nil
	}
	if err == nil {
		err = c.Set(console.SettingsFlag.Name, path)
	}
	if err == nil {
		err = console.ReadFile(c, path)
	}
	if err == nil {
		err = checkServeConfig(c)
	}
	if err != nil { // so it can be called again
		os.Remove(path)
		if drawn {
			os.Remove(tokens)
		}
		return err
	}
	fmt.Fprintf(c.App.Writer, "wrote %s\n", path)
	if drawn {
		fmt.Fprintf(c.App.Writer, "the token of an admin is in %s\n", tokens)
	}
	return nil
}

// createWith writes a new file.
func createWith(path, text string, mode os.FileMode) error {
	return files.Create(path, func(f *os.File) error {
		if _, err := f.WriteString(text); err != nil {
			return err
		}
		return f.Chmod(mode)
	})
}

// settingsText returns the file of --write-settings. Flags replace the values of safeSettings.
func settingsText(c *cli.Context, tokens string) (string, error) {
	known := []string{console.WriteSettingsFlag.Name, console.SetFlag.Name, cli.HelpFlag.Names()[0]}
	var b strings.Builder
	b.WriteString("# ")
	fmt.Fprintf(&b, "%s serve --%s prints all keys. A running server reads limits again.\n", c.App.Name, console.PrintSettingsFlag.Name)
	for _, s := range safeSettings {
		known = append(known, s.name)
		var value any = yaml.Node{Kind: yaml.ScalarNode, Value: s.value}
		_, list := c.Value(s.name).(cli.StringSlice)
		switch {
		case s.name == "tokens":
			value = tokens
		case list && c.IsSet(s.name):
			value = c.StringSlice(s.name)
		case c.IsSet(s.name):
			value = c.Value(s.name)
		case list && s.value != "":
			value = []string{s.value}
		case s.value == "":
			return "", console.Usagef("--%s needs --%s %s=VALUE: %s", console.WriteSettingsFlag.Name, console.SetFlag.Name, s.name, s.why)
		}
		line, err := console.YAMLInLine(value)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n# %s\n%s: %s\n", s.why, s.name, line)
	}
	for _, name := range c.LocalFlagNames() {
		if slices.Contains(flagNames(c), name) && !slices.Contains(known, name) {
			return "", console.Usagef("%s: got it with --%s, which writes %d keys; add others to the file by hand", console.Spelled(c, name), console.WriteSettingsFlag.Name, len(safeSettings))
		}
	}
	return b.String(), nil
}
