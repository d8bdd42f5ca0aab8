//go:build linux

package memory

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A verb may use base bytes, and times the size of the largest state that a keyframe of
// the file declares.
const (
	base  = 76 << 20
	times = 4
)

// The verbs of samestep replay and their arguments. F is the file, O is an output file, K
// is a private key, P its public key, and R a file of reports.
var (
	few  = []string{"info F --json", "verify F --keep-going", "export F", "seal F O", "bisect F F"}
	more = []string{
		"info F", "verify F", "verify F --keep-going --workers 1", "verify F --key P", "dump F", "dump F --json", "dump F --tick 100", "seek F 100",
		"cut --tick 50 F O", "rekey --every 100 F O", "rekey --every 0 F O", "recover F O", "sign --key K F O", "export --to mcap F O",
		"step F --tick 100", "step F F --tick 50 --json", "diff F F", "diff F F --tick 50", "bisect F --player 0", "bisect F R", "import F O", "follow F --idle 10ms", "watch F --once",
	}
)

// samestep is the program, built once.
var samestep = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "samestep-memory-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	bin := filepath.Join(folder, "samestep")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", bin, "../../../cmd/samestep").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(bin)
})

// build puts samestep into a folder.
func build(t *testing.T, folder string) string {
	t.Helper()
	bin := filepath.Join(folder, "samestep")
	b, err := samestep()
	if err == nil {
		err = os.WriteFile(bin, b, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// launch makes this test program run another program and measure it.
const launch = "SAMESTEP_MEMORY_LAUNCH"

// The kernel counts the memory of a process for the process that it starts, so a small
// process starts the measured programs.
func TestMain(m *testing.M) {
	if os.Getenv(launch) == "" {
		os.Exit(m.Run())
	}
	c := exec.Command(os.Args[1], os.Args[2:]...)
	c.Stderr = os.Stderr
	c.Run()
	if c.ProcessState == nil {
		os.Exit(1)
	}
	fmt.Println(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss, c.ProcessState.ExitCode())
}

// peak runs a program and returns its maximum of memory in bytes.
func peak(t *testing.T, bin string, args ...string) int64 {
	t.Helper()
	c := exec.Command(os.Args[0], append([]string{bin}, args...)...)
	c.Env = append(os.Environ(), launch+"=1", "XDG_CACHE_HOME="+filepath.Join(filepath.Dir(bin), "cache")) // not the modules of this user
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	var kib int64
	var code int
	if n, _ := fmt.Sscan(string(out), &kib, &code); n != 2 {
		t.Errorf("%v: %s %s", err, out, said.String())
		return 0
	}
	if code < 0 || strings.Contains(said.String(), "goroutine ") {
		t.Errorf("%s: exit code %d: %.300s", strings.Join(args, " "), code, said.String())
	}
	usage := code == 2 && (strings.Contains(said.String(), "--help") || strings.Contains(said.String(), ", want "))
	if usage && !strings.HasSuffix(said.String(), "want --schema\n") { // diff takes files without a magic for states
		t.Errorf("%s: exit code 2: %.300s", strings.Join(args, " "), said.String())
	}
	return kib << 10
}

// declared returns the size of the largest state in a file.
func declared(file string) (size int64) {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	r, err := replay.NewReader(f, info.Size())
	for err == nil {
		var rec *record.Record
		if rec, err = r.Next(); err == nil {
			size = max(size, int64(len(rec.Keyframe.State)))
		}
	}
	return size
}

// checkImport imports a match of another engine and checks the memory.
func checkImport(t *testing.T, bin, match string) {
	limit := int64(base)
	if filepath.Base(match) == "states.jsonl" {
		limit += times * recordedState
	}
	if got := peak(t, bin, "replay", "import", match, filepath.Join(t.TempDir(), "out")); got > limit {
		t.Errorf("import of %s: got %d MiB, want at most %d MiB", filepath.Base(match), got>>20, limit>>20)
	}
}

// check runs verbs on a file and checks the memory of each.
func check(t *testing.T, bin string, verbs []string, file string, limit int64) (most int64) {
	t.Helper()
	limit += times * declared(file)
	for _, verb := range verbs {
		args := []string{"replay"}
		for _, a := range strings.Fields(verb) {
			switch a {
			case "F":
				a = file
			case "O":
				a = filepath.Join(t.TempDir(), "out")
			case "K", "P", "R":
				a = filepath.Join(filepath.Dir(bin), map[string]string{"K": "private.pem", "P": "public.pem", "R": "reports.jsonl"}[a])
			}
			args = append(args, a)
		}
		got := peak(t, bin, args...)
		if got > limit {
			t.Errorf("%s of %s: got %d MiB, want at most %d MiB", verb, filepath.Base(file), got>>20, limit>>20)
		}
		most = max(most, got)
	}
	return most
}

// Every verb keeps the memory rule of docs/limits.md on every file. At night each verb runs on each hostile file, the few on each
// sealed file at a limit, and three in turn on each replay of the test data and on changed replays. By day one verb runs on each
// hostile file.
func TestMemory(t *testing.T) {
	folder := t.TempDir()
	bin := build(t, folder)
	all := testenv.ByNight(t)
	supplies(t, folder)
	files, verbs, globs := append(hostile(t, folder), bundled(t, folder)), few, []string{"../../../testdata/replays/versions/v1-sealed.ssr"}
	each, full, some := 1, 0, 0 // verbs for each file; files before full get all verbs, and before some the few
	if all {
		open, sealed := atLimits(t, folder)
		files, verbs = append(files, open...), slices.Concat(few, more)
		full, each = len(files), 3
		files = append(files, sealed...)
		some = len(files)
		files = append(files, mutated(t, folder)...)
		globs = []string{"../../../testdata/replays/*.ssr", "../../../testdata/replays/versions/*.ssr", "../../../testdata/conformance/replay/*"}
	}
	for _, g := range globs {
		found, err := filepath.Glob(g)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no files, %v", g, err)
		}
		files = append(files, found...)
	}
	peaks := make([]int64, len(files))
	var wg sync.WaitGroup
	running := make(chan struct{}, runtime.GOMAXPROCS(0))
	start := func(f func()) {
		running <- struct{}{}
		wg.Go(func() {
			f()
			<-running
		})
	}
	for _, match := range matches(t, folder, all) {
		start(func() { checkImport(t, bin, match) })
	}
	for i, f := range files {
		var own []string
		switch {
		case i < full:
			own = verbs
		case i < some:
			own = few
		default:
			for k := range each {
				own = append(own, verbs[(i*each+k)%len(verbs)])
			}
		}
		start(func() { peaks[i] = check(t, bin, own, f, base) })
	}
	wg.Wait()
	t.Logf("%d files, %d verbs: at most %d MiB", len(files), len(verbs), slices.Max(peaks)>>20)
}

// Control: the measured memory of a small command is plausible.
func TestMemoryControl(t *testing.T) {
	folder := t.TempDir()
	bin := build(t, folder)
	if got := peak(t, bin, "replay", "info", "../../../testdata/replays/duel.ssr"); got < 1<<20 || got > base {
		t.Errorf("got %d bytes, want some MiB", got)
	}
}

// mutated writes replays with a changed byte.
func mutated(t *testing.T, folder string) (files []string) {
	t.Helper()
	for _, name := range []string{"v1-open", "v1-sealed", "v1-signed"} {
		b, err := os.ReadFile("../../../testdata/replays/versions/" + name + ".ssr")
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(b); at += 97 {
			m := bytes.Clone(b)
			m[at] ^= byte(1 + at)
			files = append(files, write(t, folder, fmt.Sprintf("%s-%d.ssr", name, at), m, 0))
		}
	}
	return files
}

// write writes a file and extends it with zeros to a size, as a sparse file.
func write(t *testing.T, folder, name string, b []byte, size int64) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if size > 0 {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// file returns the beginning of a replay with blocks of one kind.
func file(kind byte, bodies ...[]byte) []byte {
	b := append([]byte("\x89SSR\r\n\x1a\n\x01\x00\x00\x00\x00\x00\x00\x00"), make([]byte, 16)...)
	sum := xxhash.Sum64(b)
	for _, body := range bodies {
		block := append(binary.AppendUvarint([]byte{kind}, uint64(len(body))), body...)
		sum = xxhash.Sum64(append(binary.LittleEndian.AppendUint64(nil, sum), block...))
		b = binary.LittleEndian.AppendUint64(append(b, block...), sum)
	}
	return b
}
