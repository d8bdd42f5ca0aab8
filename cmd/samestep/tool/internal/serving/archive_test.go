//go:build !js

package serving

import (
	"flag"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/server/archive"
)

// Bundles have limits of their own. Without one they may take as many bytes as the replays, and no more.
func TestKeepFlags(t *testing.T) {
	for _, x := range []struct {
		args []string
		want archive.Keep
	}{
		{nil, archive.Keep{}},
		{[]string{"--keep-bytes", "5000"}, archive.Keep{Bytes: 5000, BundleBytes: 5000}},
		{[]string{"--keep-bytes", "5000", "--keep-bundles-bytes", "0"}, archive.Keep{Bytes: 5000}},
		{[]string{"--keep-days", "2", "--keep-replays", "3", "--keep-bundles", "4", "--keep-bundles-bytes", "6"}, archive.Keep{Age: 48 * time.Hour, Replays: 3, Bundles: 4, BundleBytes: 6}},
	} {
		set := flag.NewFlagSet("serve", flag.ContinueOnError)
		for _, f := range ServeCommand().Flags {
			if err := f.Apply(set); err != nil {
				t.Fatal(err)
			}
		}
		if err := set.Parse(x.args); err != nil {
			t.Fatal(err)
		}
		if got := keep(cli.NewContext(nil, set, nil)); got != x.want {
			t.Errorf("%v: got %+v, want %+v", x.args, got, x.want)
		}
	}
}
