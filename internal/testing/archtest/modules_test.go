package archtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// newGame has the modules that the program and the tests of a new game link, apart from the engine. Each is a line of its go.mod, and of its
// author's audits. A verb that needs another one for few games is a part: see cmd/samestep/tool/internal/parts.
var newGame = []string{
	jwks, brotli, "github.com/beorn7/perks", xxhash, websocket, "github.com/coreos/go-systemd/v22", "github.com/cpuguy83/go-md2man/v2",
	"github.com/dunglas/httpsfv", humanize, jwt, zstd, "github.com/klauspost/cpuid/v2", "github.com/munnerz/goautoneg", proxy, metrics,
	"github.com/prometheus/client_model", "github.com/prometheus/common", "github.com/prometheus/procfs", "github.com/quic-go/qpack",
	"github.com/quic-go/quic-go", "github.com/quic-go/webtransport-go", "github.com/russross/blackfriday/v2", wazero, "github.com/urfave/cli/v2",
	msgpack, "github.com/vmihailenco/tagparser/v2", "github.com/xrash/smetrics", xxh3, bbolt, "go.yaml.in/yaml/v3", "golang.org/x/crypto",
	"golang.org/x/mod", "golang.org/x/net", xsync, xsys, "golang.org/x/term", "golang.org/x/text", xtime, xtools, "google.golang.org/protobuf",
}

// A new game links no module more, and the parts would add theirs.
func TestModulesOfNewGame(t *testing.T) {
	const tool = "./cmd/samestep/tool"
	got := linked(t, tool+"/internal/scaffold/program", tool+"/internal/scaffold/rules")
	for _, m := range got {
		if !slices.Contains(newGame, m) {
			t.Errorf("a new game links module %s, which is not in the list", m)
		}
	}
	for _, m := range newGame {
		if !slices.Contains(got, m) {
			t.Errorf("the list has module %s, which a new game does not link", m)
		}
	}
	parts := linked(t, tool+"/s3", tool+"/mcap", tool+"/watch")
	for _, m := range []string{minio, "github.com/foxglove/mcap/go/mcap", "charm.land/bubbletea/v2"} {
		if !slices.Contains(parts, m) {
			t.Errorf("the parts do not link module %s", m)
		}
	}
}

// linked returns the modules that packages and their tests link, apart from ours.
func linked(t *testing.T, packages ...string) []string {
	t.Helper()
	tr := ours(t)
	c := exec.Command("go", append([]string{"list", "-deps", "-test", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}, packages...)...)
	c.Dir, c.Env = tr.dir, append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	out, err := c.Output()
	testenv.Or(t, "the go command", err)
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	return slices.Compact(modules)
}
