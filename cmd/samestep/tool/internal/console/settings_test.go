//go:build !js

package console

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// A setting has one value, and is refused as the user has written it.
func TestOrigins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(path, []byte("# ours\nseats: 9\nat: here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := "--settings " + path
	for _, row := range []struct{ variable, args, want string }{
		{"", "", "--seats 4, at :1"},
		{"", "--seats=5", "--seats 5, at :1"},
		{"6", "", "SEATS 6, at :1"},
		{"6", "--seats=5", "--seats 5, at :1"},
		{"", "--set seats=7", "--set seats 7, at :1"},
		{"6", "--set seats=7", "--set seats 7, at :1"},
		{"", "--set seats=7 --set seats=7", "--set seats 7, at :1"},
		{"", "--set seats=7 --set seats=8", "usage: --set seats: got 7 and 8, want one value"},
		{"", "--seats=7 --set seats=8", "usage: --set seats: got 7 and 8, want one value"},
		{"", "--set at=:65535 " + file, path + ": line 2: seats 9, --set at :65535"},
		{"6", "--set at=unix:/a " + file, "SEATS 6, --set at unix:/a"},
		{"", file, "usage: " + path + `: line 3: at: got "here", want HOST:PORT with a port of 0 to 65535, unix:PATH or off`},
		{"", "--set at=:65536", `usage: --set at: got ":65536", want HOST:PORT with a port of 0 to 65535, unix:PATH or off`},
		{"", "--set at=a/b:1", `usage: --set at: got "a/b:1", want HOST:PORT with a port of 0 to 65535, unix:PATH or off`},
		{"", "--set at=unix:", `usage: --set at: got "unix:", want HOST:PORT with a port of 0 to 65535, unix:PATH or off`},
		{"", "--set at=off", "--seats 4, --set at off"},
	} {
		t.Run(row.variable+" "+row.args, func(t *testing.T) {
			t.Setenv("SEATS", row.variable)
			got := ""
			app := &cli.App{Writer: io.Discard, Flags: []cli.Flag{
				&Setting{Flag: &cli.UintFlag{Name: "seats", Value: 4, EnvVars: []string{"SEATS"}}, Where: Anywhere},
				&Setting{Flag: &cli.StringFlag{Name: "at", Value: ":1"}, Where: InFile, Check: Address("", "unix:PATH", "off")},
				SetFlag, SettingsFlag,
			}, Action: func(c *cli.Context) error {
				if err := ReadSettings(c); err != nil {
					return err
				}
				got = fmt.Sprintf("%s %d, %s %s", spelled(c, "seats"), c.Uint("seats"), spelled(c, "at"), c.String("at"))
				return CheckSettings(c)
			}}
			if err := app.Run(append([]string{"x"}, strings.Fields(row.args)...)); err != nil {
				got = err.Error()
			}
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// A variable gives way to --set, and has its own name, also for a flag that takes no value.
func TestOriginOfBool(t *testing.T) {
	for _, row := range []struct{ variable, args, want string }{
		{"true", "", "OPEN true"},
		{"true", "--open", "OPEN true"}, // both say the same
		{"true", "--open=false", "--open false"},
		{"true", "--set open=false", "--set open false"},
		{"true", "--open --set open=true", "--set open true"},
		{"true", "--open=false --set open=true", "usage: --set open: got false and true, want one value"},
		{"", "--open --set open=false", "usage: --set open: got true and false, want one value"},
		{"true", "--set open=false --set open=true", "usage: --set open: got false and true, want one value"},
		{"true", "--set open=false --set open=perhaps", `usage: --set open: got "perhaps", want true or false`},
	} {
		t.Run(row.variable+" "+row.args, func(t *testing.T) {
			t.Setenv("OPEN", row.variable)
			got := ""
			app := &cli.App{Writer: io.Discard, Flags: []cli.Flag{
				&Setting{Flag: &cli.BoolFlag{Name: "open", EnvVars: []string{"OPEN"}}, Where: Anywhere}, SetFlag, SettingsFlag,
			}, Action: func(c *cli.Context) error {
				err := ReadSettings(c)
				got = fmt.Sprintf("%s %v", spelled(c, "open"), c.Bool("open"))
				return err
			}}
			if err := app.Run(append([]string{"x"}, strings.Fields(row.args)...)); err != nil {
				got = err.Error()
			}
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
