package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/seed-49bee653/samestep/internal/files"
)

// ErrToolchain is returned if there is no Go toolchain to build with.
var ErrToolchain = errors.New("site: there is no Go toolchain to build the page's WebAssembly with")

// keepDays is how long unused builds stay in the cache.
const keepDays = 7

// tag leaves out of a page's program what no page needs.
const tag = "samestep_page"

// BuildOptions describe a build.
type BuildOptions struct {
	Dir      string            // a folder in the checkout
	Packages map[string]string // import paths by name: each is built into NAME.wasm
	Cache    string            // folder of finished builds; "" for the user's cache directory
	Quality  int               // of brotli, 0 to 11; 11 takes half a minute for each program

	// Program is the file of the program that serves the page and plays with it. Build refuses sources that are not its own, with an
	// error that wraps [ErrOther]: the page would compute another match under the same name. "" allows any.
	Program string

	// Say is called before a build that is not in the cache. Nil disables it.
	Say func(string)
}

// Build returns the programs, compiled to WebAssembly and compressed, and the toolchain's script wasm_exec.js that
// starts them. It caches results by their sources. Any number of processes may build concurrently.
func Build(ctx context.Context, o BuildOptions) (fs.FS, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToolchain, err)
	}
	b := &build{BuildOptions: o, tool: tool}
	if b.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("site: %w", err)
		}
		b.Cache = filepath.Join(dir, "samestep", "web")
	}
	key, err := b.key(ctx)
	if err != nil {
		return nil, err
	}
	if err := files.PrivateFolder(b.Cache); err != nil { // browsers run its content
		return nil, fmt.Errorf("site: %w", err)
	}
	if err := b.checkProgram(key); err != nil {
		return nil, err
	}
	dir := filepath.Join(b.Cache, key)
	if _, err := os.Stat(dir); err == nil {
		now := time.Now()
		os.Chtimes(dir, now, now) // marks it as used; an error does no harm
		return os.DirFS(dir), nil
	}
	if err := b.fill(ctx, dir); err != nil {
		return nil, err
	}
	b.sweep()
	return os.DirFS(dir), nil
}

type build struct {
	BuildOptions
	tool    string
	newest  string // the source that was changed last
	changed time.Time
}

// run runs the go command for the browser and returns its output.
func (b *build) run(ctx context.Context, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, b.tool, args...)
	c.Dir = b.Dir
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("site: go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// A listed is the go command's description of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	EmbedFiles []string
	Standard   bool
	Module     *listedModule
}

type listedModule struct {
	Path, Version string
	Replace       *struct{ Version string }
}

// key returns a hash of all inputs of the programs: the toolchain, the versions of other modules, and the sources
// without one.
func (b *build) key(ctx context.Context) (string, error) {
	h := sha256.New()
	version, err := b.run(ctx, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "2 %s %d\n", bytes.TrimSpace(version), b.Quality)
	args := []string{"list", "-tags=" + tag, "-deps", "-json=ImportPath,Dir,GoFiles,EmbedFiles,Standard,Module"}
	for _, name := range b.names() {
		fmt.Fprintf(h, "%s %s\n", name, b.Packages[name])
		args = append(args, b.Packages[name])
	}
	out, err := b.run(ctx, args...)
	if err != nil {
		return "", err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			return "", fmt.Errorf("site: go list: %w", err)
		}
		if p.Standard {
			continue // covered by the toolchain's version
		}
		if m := p.Module; m != nil && m.Version != "" && (m.Replace == nil || m.Replace.Version != "") { // otherwise it is a folder
			fmt.Fprintf(h, "%s %s\n", p.ImportPath, p.Module.Version)
			if err := b.checkVersion(p.Module); err != nil {
				return "", err
			}
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.EmbedFiles) {
			content, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return "", fmt.Errorf("site: %w", err)
			}
			if info, err := os.Stat(filepath.Join(p.Dir, name)); err == nil && info.ModTime().After(b.changed) {
				b.newest, b.changed = filepath.Join(p.Dir, name), info.ModTime()
			}
			fmt.Fprintf(h, "%s %d\n", path.Join(p.ImportPath, name), len(content))
			h.Write(content)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// names returns the names of the programs in order.
func (b *build) names() []string { return slices.Sorted(maps.Keys(b.Packages)) }

// fill builds into a temporary folder, and renames it to dir when it is complete.
func (b *build) fill(ctx context.Context, dir string) error {
	if b.Say != nil {
		b.Say(fmt.Sprintf("building the page's WebAssembly once, into %s", dir))
	}
	unfinished, err := os.MkdirTemp(b.Cache, "unfinished-*")
	if err != nil {
		return fmt.Errorf("site: %w", err)
	}
	defer os.RemoveAll(unfinished)
	if err := b.into(ctx, unfinished); err != nil {
		return err
	}
	if err := os.Rename(unfinished, dir); err != nil {
		if _, there := os.Stat(dir); there != nil { // otherwise another process has built the same
			return fmt.Errorf("site: %w", err)
		}
	}
	return nil
}

// into builds everything into a folder.
func (b *build) into(ctx context.Context, dir string) error {
	root, err := b.run(ctx, "env", "GOROOT")
	if err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("site: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wasm_exec.js"), script, 0o600); err != nil {
		return fmt.Errorf("site: %w", err)
	}
	for _, name := range b.names() {
		program := filepath.Join(dir, name+".wasm")
		if _, err := b.run(ctx, "build", "-tags="+tag, "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, b.Packages[name]); err != nil {
			return err
		}
		if err := compress(program, b.Quality); err != nil {
			return fmt.Errorf("site: %w", err)
		}
	}
	return nil
}

// compress replaces a file by its compressed form.
func compress(name string, quality int) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(b, []byte("\x00asm")) {
		return fmt.Errorf("%s is no program: the package is not a main package", filepath.Base(name))
	}
	var out bytes.Buffer
	w := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: quality, LGWin: 24})
	w.Write(b) // into memory
	w.Close()
	if err := os.WriteFile(name+".br", out.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Remove(name)
}

// sweep removes builds that were not used for keepDays.
func (b *build) sweep() {
	entries, err := os.ReadDir(b.Cache)
	if err != nil {
		return // it is a cache
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepDays*24*time.Hour {
			os.RemoveAll(filepath.Join(b.Cache, e.Name()))
		}
	}
}

// ErrOther is wrapped by the error of sources that are not those of the program.
var ErrOther = errors.New("site: the sources are not those of this program, which would play another match than its page: build it again")

// dated is the time before which no file was really changed: builds that are the same each time give files an older one.
var dated = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// checkProgram refuses sources with a file that was changed after the program was built, unless the program has had the same sources
// before: the go command keeps programs, and git changes the times of files that it writes again.
func (b *build) checkProgram(key string) error {
	info, err := os.Stat(b.Program)
	if b.Program == "" || err != nil || info.ModTime().Before(dated) {
		return nil // nothing is known of it
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", b.Program, info.Size(), info.ModTime().UnixNano()))
	note := filepath.Join(b.Cache, "program-"+hex.EncodeToString(sum[:16]))
	if known, err := os.ReadFile(note); err == nil && string(known) == key {
		return nil
	}
	if b.changed.After(info.ModTime()) {
		return fmt.Errorf("%w: %s was changed at %s, and %s built at %s", ErrOther, b.newest, b.changed.Format(time.DateTime), filepath.Base(b.Program), info.ModTime().Format(time.DateTime))
	}
	os.WriteFile(note, []byte(key), 0o600) // without it, the times decide again
	return nil
}

// checkVersion refuses a module of which the program has another version.
func (b *build) checkVersion(m *listedModule) error {
	if info, ok := debug.ReadBuildInfo(); b.Program != "" && ok {
		return compareVersion(info, m)
	}
	return nil
}

func compareVersion(info *debug.BuildInfo, m *listedModule) error {
	version := m.Version
	if m.Replace != nil {
		version = m.Replace.Version
	}
	for _, own := range info.Deps {
		has := own.Version
		if own.Replace != nil {
			has = own.Replace.Version
		}
		if own.Path == m.Path && has != version {
			return fmt.Errorf("%w: they have %s %s, and this program %s", ErrOther, m.Path, version, has)
		}
	}
	return nil
}
