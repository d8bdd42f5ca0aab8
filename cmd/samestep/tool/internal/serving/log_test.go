//go:build !js

package serving

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// log-level says which lines the log has, and log-format in which form.
func TestServeLog(t *testing.T) {
	for _, row := range []struct{ flags, want string }{
		{"", "level=INFO msg=info\nlevel=WARN msg=warn\n"},
		{"--log-level warn", "level=WARN msg=warn\n"},
		{"--log-level error", ""},
		{"--log-level debug", "level=DEBUG msg=debug\nlevel=INFO msg=info\nlevel=WARN msg=warn\n"},
		{"--log-level warn --log-format json", `"level":"WARN","msg":"warn"}` + "\n"},
	} {
		var out bytes.Buffer
		app := cli.NewApp()
		app.ErrWriter = &out
		set := flag.NewFlagSet("serve", flag.ContinueOnError)
		for _, f := range ServeCommand().Flags {
			if err := f.Apply(set); err != nil {
				t.Fatal(err)
			}
		}
		if err := set.Parse(strings.Fields(row.flags)); err != nil {
			t.Fatal(err)
		}
		log, err := NewLog(cli.NewContext(app, set, nil))
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("debug")
		log.Info("info")
		log.Warn("warn")
		got := ""
		for line := range strings.Lines(out.String()) { // without the time
			_, rest, found := strings.Cut(line, " ")
			if !found {
				_, rest, _ = strings.Cut(line, ",")
			}
			got += rest
		}
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.flags, got, row.want)
		}
	}
}
