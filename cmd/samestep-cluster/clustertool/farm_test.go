//go:build !js && !wasip1

package clustertool_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep-cluster/clustertool"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/replay"
)

// asProgram makes the test's own program a cluster's program for the minimal game, which the tests run as processes.
const asProgram = "CLUSTERTOOL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		clustertool.Main(tool.New(deadly(minimal.Rules()), tool.Bot(minimal.NewBot), tool.Config(minimal.Usual)))
	}
	os.Setenv(asProgram, "1") // of the processes that the tests start
	testenv.Overlap(8)
	goleak.VerifyTestMain(m)
}

// A runner runs a command line, and fails unless it has an exit code and prints some texts.
type runner func(code int, line string, want ...string) string

// start starts a node, and returns a runner that finds it by the environment.
func start(t *testing.T) runner {
	t.Helper()
	t.Setenv("SAMESTEP_NATS", startNode(t))
	return func(code int, line string, want ...string) string {
		t.Helper()
		return command(t, code, line, want...)
	}
}

// startNamed starts a node, and returns its URL and a runner that names it in each verb of the farm, as a parallel test must.
func startNamed(t *testing.T) (string, runner) {
	t.Helper()
	url := startNode(t)
	return url, func(code int, line string, want ...string) string {
		t.Helper()
		if words := strings.Fields(line); words[0] == "farm" {
			line = strings.Join(slices.Insert(words, 2, "--nats", url), " ")
		}
		return command(t, code, line, want...)
	}
}

// startNode starts a node until the test ends, and returns its URL.
func startNode(t *testing.T) string {
	t.Helper()
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	return node.URL()
}

func command(t *testing.T, code int, line string, want ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	run := clustertool.Run
	if verb, _, _ := strings.Cut(line, " "); slices.Contains([]string{"join", "replay", "rules"}, verb) {
		run = tool.Run // the other program
	}
	got := run(t.Context(), append([]string{"samestep-cluster"}, strings.Fields(line)...), &out, &errs, games.All()...)
	if got != code {
		t.Errorf("%s: got exit code %d, want %d: %s%s", line, got, code, &out, &errs)
	}
	for _, text := range want {
		if !strings.Contains(out.String()+errs.String(), text) {
			t.Errorf("%s: got no %q in\n%s%s", line, text, &out, &errs)
		}
	}
	return out.String()
}

// replays copies the golden replays and a torn one into a folder.
func replays(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob("../../../testdata/replays/*.ssr")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for i, name := range files {
		b, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600)
		}
		if err == nil && i == 0 {
			err = os.WriteFile(filepath.Join(dir, "torn.ssr"), b[:len(b)/2], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The verbs verify the replays of the example games, as replay verify does.
func TestFarm(t *testing.T) {
	t.Parallel()
	dir := replays(t)
	_, run := startNamed(t)
	run(0, "farm submit --build b1 "+dir, "build b1: 5 files, 5 uploaded, 5 queued, 0 with a result")
	run(0, "farm watch --build b1 --once", "0 of 5, 0 in work", "no results")
	out := run(0, "farm work --build b1 --until-empty --json --name w1")
	for line := range strings.Lines(out) {
		var r farm.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Build != "b1" || r.Worker != "w1" || r.Ticks == 0 || (r.Class == replay.ClassTorn) != (r.File == "farm/torn.ssr") {
			t.Errorf("got %s, %v", line, err)
		}
	}
	if n := strings.Count(out, "\n"); n != 5 {
		t.Errorf("got %d results, want 5", n)
	}
	run(0, "farm watch --build b1", "5 of 5, 0 in work", "4 ok, 1 torn")
	run(0, "farm watch --build b1 --json", `"left":0`, `"classes":{"ok":4,"torn":1}`)
	run(4, "farm results --build b1 --bad", "torn        farm/torn.ssr: ", "5 files: 4 ok, 1 torn", "1 of 5 files are bad; the worst is torn")
	run(0, "farm submit --build b1 --json "+dir, `"known": 5`)
	run(0, "farm submit --archive --build b2", "5 files, 0 uploaded, 5 queued")
	run(0, "farm results --build b3", "0 files: no results")
	run(0, "farm forget --build b1", "build b1: removed 5 results and 0 jobs")
	run(0, "farm results --build b1", "0 files: no results")
	run(0, "farm watch --build b2 --once", "0 of 5, 0 in work")
	run(0, "farm forget --build b2 --json", `"results": 0`, `"jobs": 5`)
	run(0, "farm watch --build b2 --once", "0 of 0, 0 in work")
	run(4, "replay verify "+dir, "5 files in ", "1 torn", "4 ok")
}

// Workers verify with the module that a submission has stored, and not with their program's games.
func TestFarmWithRules(t *testing.T) {
	t.Parallel()
	testenv.Named(t)
	dir := replays(t)
	module := filepath.Join(t.TempDir(), "minimal.wasm")
	_, run := startNamed(t)
	run(0, "rules build -o "+module+" ../../../examples/minimal", "minimal build 1")
	golden, err := filepath.Glob("../../../examples/minimal/testdata/golden/*.ssr")
	if err != nil || len(golden) != 1 {
		t.Fatal(golden, err)
	}
	b, err := os.ReadFile(golden[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "minimal.ssr"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := run(0, "farm submit --rules "+module+" "+dir, "6 files, 6 uploaded, 6 queued")
	_, sum, _ := strings.Cut(out, "build ")
	sum, _, _ = strings.Cut(sum, ":")
	run(0, "farm work --until-empty --build "+sum, "ok          farm/minimal.ssr", "identity    farm/duel.ssr")
	run(0, "farm submit --rules "+module+" "+dir, "0 uploaded, 0 queued, 6 with a result")
	run(2, "farm submit --rules "+module+" --build b "+dir, "the build is the sum of the module")
}

// A worker whose build is the sum of a module takes that from the storage, and verifies with nothing else.
func TestFarmRules(t *testing.T) {
	t.Parallel()
	url, run := startNamed(t)
	run(4, "farm submit --rules farm_test.go "+replays(t), "farm_test.go: module: not a rules module")
	run(0, "farm submit --build b "+replays(t), "5 queued")
	conn, err := storage.Dial(url, storage.DialOptions{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text := []byte("no module")
	bytes := sha256.Sum256(text)
	sum, other := hex.EncodeToString(bytes[:]), strings.Repeat("1", 64)
	for _, of := range []string{sum, other} {
		if err := objects.New(conn).Write(t.Context(), "rules/"+of+".wasm", text); err != nil {
			t.Fatal(err)
		}
	}
	run(4, "farm work --until-empty --build "+sum, "module: not a rules module")
	run(4, "farm work --until-empty --build "+other, "the module "+other+" in the storage has other bytes: farm submit --rules FILE replaces it")
	run(5, "farm work --until-empty --build "+strings.Repeat("0", 64), "farm submit --rules FILE stores it")
	run(0, "farm watch --build b --once", "0 of 5, 0 in work")

	// What the error advises helps.
	module := filepath.Join(t.TempDir(), "pebbles.wasm")
	b := pebbles(t)
	if err := errors.Join(os.WriteFile(module, b, 0o600), objects.New(conn).Write(t.Context(), "rules/"+replay.SumRules(b).String()+".wasm", text)); err != nil {
		t.Fatal(err)
	}
	run(4, "farm work --until-empty --build "+replay.SumRules(b).String(), "farm submit --rules FILE replaces it")
	run(0, "farm submit --rules "+module+" ../../../examples/pebbles/testdata/golden", "1 queued")
	run(0, "farm work --until-empty --build "+replay.SumRules(b).String(), "ok          farm/pebbles-1.ssr")
}

// pebbles returns the module in the golden match of pebbles.
func pebbles(t *testing.T) []byte {
	t.Helper()
	f, err := replay.Open("../../../examples/pebbles/testdata/golden/pebbles-1.ssr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := r.Rules()
	if err != nil {
		t.Fatal(err)
	}
	b, err := rules.Module()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFarmUsage(t *testing.T) {
	run := start(t)
	for line, want := range map[string]string{
		"farm submit":                               "want either DIR or --archive",
		"farm submit --archive " + t.TempDir():      "want either DIR or --archive",
		"farm submit a b":                           "got 2 arguments, want [DIR]",
		"farm work --ack-wait 1ms":                  "too small",
		"farm watch --every 1ms":                    "--every: got 1ms",
		"farm forget":                               "want --build NAME",
		"farm play":                                 `unknown command "play"`,
		"farm results --nats-cert a":                "--nats-cert and --nats-key: want both",
		"farm results --nats-nkey a --nats-creds b": "--nats-creds and --nats-nkey: want one of them",
	} {
		run(2, line, want)
	}
	run(1, "farm submit "+t.TempDir(), "no *.ssr files")
	run(1, "farm results --nats nats://127.0.0.1:1", "no servers available")
	run(1, "farm results --nats-ca farm_test.go", "no certificate in PEM")
	run(1, "farm results --nats-nkey farm_test.go", "storage: ")
	run(0, "farm work --help", "$SAMESTEP_NATS_CREDS", "$SAMESTEP_NATS")
	run(0, "--help", "verify many replays on many machines")
}

// Without --build, a program submits jobs for itself.
func TestDefaultBuild(t *testing.T) {
	t.Parallel()
	_, run := startNamed(t)
	out := run(0, "farm submit --json "+replays(t))
	var sent struct{ Build string }
	if err := json.Unmarshal([]byte(out), &sent); err != nil || len(sent.Build) < 20 {
		t.Fatalf("got %s, %v", out, err)
	}
	run(0, "farm work --until-empty", "ok          farm/duel.ssr: ")
	run(4, "farm results --build "+sent.Build, "5 files")
}
