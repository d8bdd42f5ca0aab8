package line

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Options say what to compare.
type Options struct {
	Source   string // a folder in the module with the rules, or a git revision; "" means the current folder
	Other    string // another version of it: a folder, or a git revision; "" for none
	Platform string // another platform, such as "js/wasm" or "linux/386"; "" for none
	Runs     int    // without both: how often to compute the match with one version; 0 means 4

	// Edits replace files on the disk: absolute path to content. They are the other version, unless Platform
	// is set. Nil for none.
	Edits map[string][]byte

	Tick lockstep.Tick // the tick; 0 means the first one whose results differ
	From lockstep.Tick // a tick at which the sides agree, if one is known
	Last lockstep.Tick // the last tick to look at; 0 means that of the log

	// Assets reads the assets of the match. Nil means that it has none.
	Assets func(lockstep.Asset) ([]byte, error)
	// List lists the assets of the match.
	List []lockstep.Asset

	// Progress is called with what is done next. Nil disables it.
	Progress func(text string)
}

func (o *Options) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// platform returns the environment in which the go command builds for a platform, and what runs its programs here.
func platform(name string) (env, runner []string, err error) {
	system, arch, ok := strings.Cut(name, "/")
	if !ok {
		return nil, nil, fmt.Errorf("line: got platform %q, want one such as js/wasm or linux/386", name)
	}
	env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	switch {
	case name == "js/wasm":
		runner = []string{filepath.Join(goRoot(), "lib", "wasm", "go_js_wasm_exec")}
		if _, err := exec.LookPath("node"); err != nil {
			return nil, nil, fmt.Errorf("line: %s programs need Node.js: %w", name, err)
		}
	case system != runtime.GOOS:
		return nil, nil, fmt.Errorf("line: programs for %s do not run on %s", name, runtime.GOOS)
	case arch == runtime.GOARCH || arch == "386" && runtime.GOARCH == "amd64":
	default:
		if runner, err = emulator(arch); err != nil {
			return nil, nil, fmt.Errorf("line: programs for %s need an emulator: %w", name, err)
		}
	}
	return env, runner, nil
}

// emulator returns what runs the Linux programs of an architecture on any other one.
func emulator(arch string) ([]string, error) {
	machine := cmp.Or(map[string]string{"arm64": "aarch64", "386": "i386", "amd64": "x86_64"}[arch], arch)
	for _, name := range []string{"qemu-" + machine, "qemu-" + machine + "-static"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("qemu-%s is not installed", machine)
}

func goRoot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "" // there is no runner then
	}
	return strings.TrimSpace(string(out))
}
