//go:build !js

package site

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// program stands for WebAssembly.
var program = strings.Repeat("wasm ", 20000)

func packed(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

func newSite(t *testing.T, script string) *Site {
	t.Helper()
	s, err := New(fstest.MapFS{
		"index.html":  {Data: []byte(`<script src="a.js"></script><a href="about.html" title="b.js is not">a.js</a>`)},
		"about.html":  {Data: []byte("about")},
		"a.js":        {Data: []byte(script)},
		"deep/b.html": {Data: []byte("no document")},
	}, fstest.MapFS{"game.wasm.br": packed(t, program)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ServeHTTP serves the site alone.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Over(http.NotFoundHandler()).ServeHTTP(w, r)
}

func get(h http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSite(t *testing.T) {
	s := newSite(t, "run()")
	under := "/page/" + s.hash + "/"
	index := body(t, get(s, "GET", "/"))
	if want := `<script src="` + under + `a.js"></script><a href="about.html" title="b.js is not">a.js</a>`; index != want {
		t.Errorf("the document: got %s, want %s", index, want)
	}
	const forEver = "public, max-age=31536000, immutable"
	for _, row := range []struct {
		method, path string
		status       int
		kind, cache  string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/about.html", 200, "text/html; charset=utf-8", "no-cache"},
		{"HEAD", under + "a.js", 200, "text/javascript; charset=utf-8", forEver},
		{"GET", under + "game.wasm", 200, "application/wasm", forEver},
		{"GET", under + "deep/b.html", 200, "text/html; charset=utf-8", forEver},
		{"GET", under + "game.wasm.br", 404, "", ""},
		{"GET", under + "index.html", 404, "", ""},
		{"GET", under + "../../secret", 404, "", ""},
		{"GET", "/page/0000000000000000/a.js", 404, "", ""},
		{"POST", "/", 404, "", ""},
	} {
		t.Run(row.method+row.path, func(t *testing.T) {
			r := get(s, row.method, row.path)
			if r.StatusCode != row.status {
				t.Fatalf("got status %d, want %d", r.StatusCode, row.status)
			}
			if row.status != 200 {
				return
			}
			for name, want := range map[string]string{
				"Content-Type": row.kind, "Cache-Control": row.cache, "Vary": "Accept-Encoding",
				"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
			if row.method == "HEAD" && body(t, r) != "" {
				t.Error("HEAD has a body")
			}
		})
	}
	if strings.Contains(policy, "unsafe-inline") || strings.Contains(policy, "unsafe-eval'") && !strings.Contains(policy, "wasm-unsafe-eval'") {
		t.Errorf("the policy allows inline code or eval: %s", policy)
	}
}

// Pages connect to their own origin, and to others that the server names, and a request cannot add any.
func TestPolicyNamesOrigins(t *testing.T) {
	s, err := New(fstest.MapFS{"index.html": {Data: []byte("page")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		host string
		also []string
		want string
	}{
		{"play.example.org", nil, "connect-src 'self';"},
		{"play.example.org", []string{"https://udp.example.org:4433"}, "connect-src 'self' https://udp.example.org:4433;"},
		{"play.example.org", []string{"https://:4433"}, "connect-src 'self' https://play.example.org:4433;"},
		{"play.example.org:8766", []string{"https://:4433"}, "connect-src 'self' https://play.example.org:4433;"},
		{"[2001:db8::1]:8766", []string{"https://:4433"}, "connect-src 'self' https://[2001:db8::1]:4433;"},
		{"evil; script-src *", []string{"https://:4433"}, "connect-src 'self';"},
		{"a,b", []string{"https://:4433"}, "connect-src 'self';"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = row.host
		w := httptest.NewRecorder()
		s.Over(http.NotFoundHandler(), row.also...).ServeHTTP(w, r)
		got := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(got, row.want) || len(got) != len(policy)+len(row.want)-len("connect-src 'self';") {
			t.Errorf("host %q, also %q: got %q", row.host, row.also, got)
		}
	}
}

// What browsers find by its own path names the files of its version, and the size of each is known before it has arrived.
func TestSiteKeepsOneVersion(t *testing.T) {
	s, err := NewWith(map[string][]byte{"games.json": []byte("[]")}, fstest.MapFS{
		"index.html":       {Data: []byte(`<meta content="games.json"><link href="manifest.json">`)},
		"manifest.json":    {Data: []byte(`{"icons": [{"src": "icon.svg"}]}`)},
		"serviceworker.js": {Data: []byte(`const version = "site:version", files = "site:files";`)},
		"icon.svg":         {Data: []byte("<svg/>")},
	}, fstest.MapFS{"game.wasm.br": packed(t, program)})
	if err != nil {
		t.Fatal(err)
	}
	under := "/page/" + s.hash + "/"
	for path, want := range map[string]string{
		"/":              `<meta content="` + under + `games.json"><link href="manifest.json">`,
		"/manifest.json": `{"icons": [{"src": "` + under + `icon.svg"}]}`,
		"/serviceworker.js": `const version = "` + s.hash + `", files = ["` + under + `game.wasm","` + under + `games.json","` +
			under + `icon.svg"];`,
	} {
		r := get(s, "GET", path)
		if got := body(t, r); got != want || r.Header.Get("Cache-Control") != noCache || r.Header.Get("X-Decoded-Length") != "" {
			t.Errorf("%s: got %s %v, want %s", path, got, r.Header, want)
		}
	}
	if got, want := get(s, "GET", under+"game.wasm", "Accept-Encoding", "br").Header.Get("X-Decoded-Length"), fmt.Sprint(len(program)); got != want {
		t.Errorf("got %s decoded bytes, want %s", got, want)
	}
	for _, bad := range []string{`a".js`, "a.js", "ü.js"} {
		if _, err := NewWith(map[string][]byte{bad: nil}, fstest.MapFS{"index.html": {}, "a.js": {}}); err == nil {
			t.Errorf("a file %s besides a.js: got no error", bad)
		}
	}
}

func TestSiteChangesWithContent(t *testing.T) {
	a, same, other := newSite(t, "run()"), newSite(t, "run()"), newSite(t, "walk()")
	if a.hash != same.hash || a.hash == other.hash {
		t.Errorf("got hashes %s, %s and of other content %s", a.hash, same.hash, other.hash)
	}
	tag := get(a, "GET", "/").Header.Get("ETag")
	if r := get(same, "GET", "/", "If-None-Match", tag); r.StatusCode != http.StatusNotModified || body(t, r) != "" {
		t.Errorf("the same document: got %d, want 304", r.StatusCode)
	}
	if r := get(other, "GET", "/", "If-None-Match", tag); r.StatusCode != http.StatusOK {
		t.Errorf("another document: got %d, want 200", r.StatusCode)
	}
}

// Every coding gives the same bytes, however the file was found.
func TestSiteCodings(t *testing.T) {
	s := newSite(t, program)
	for _, name := range []string{"a.js", "game.wasm"} {
		for _, row := range []struct{ accept, want string }{
			{"", ""},
			{"identity", ""},
			{"gzip, deflate, br, zstd", "br"},
			{"gzip", "gzip"},
			{"gzip;q=1.0, br;q=0.5", "gzip"},
			{"br;q=0, *", "gzip"},
			{"*", "br"},
			{"br;q=0,gzip;q=0", ""},
			{"br;q=x", ""},
			{"GZIP ; q=0.2", "gzip"},
		} {
			t.Run(name+" "+row.accept, func(t *testing.T) {
				r := get(s, "GET", "/page/"+s.hash+"/"+name, "Accept-Encoding", row.accept)
				if got := r.Header.Get("Content-Encoding"); got != row.want {
					t.Fatalf("got coding %q, want %q", got, row.want)
				}
				if got := r.Header.Get("Content-Length"); got == "" {
					t.Error("no length")
				}
				plain := io.Reader(r.Body)
				switch row.want {
				case "br":
					plain = brotli.NewReader(r.Body)
				case "gzip":
					var err error
					if plain, err = gzip.NewReader(r.Body); err != nil {
						t.Fatal(err)
					}
				}
				b, err := io.ReadAll(plain)
				if err != nil || string(b) != program {
					t.Errorf("got %d bytes, %v, want %d", len(b), err, len(program))
				}
			})
		}
	}
	if n := s.SizeBytes("game.wasm"); n == 0 || n > len(program)/10 || s.SizeBytes("none") != 0 {
		t.Errorf("got a size of %d bytes", n)
	}
}

func TestSiteOver(t *testing.T) {
	s := newSite(t, "run()")
	h := s.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "next") }))
	if got := body(t, get(h, "GET", "/matches")); got != "next" {
		t.Errorf("another path: got %q, want next", got)
	}
	if got := body(t, get(h, "GET", "/about.html")); got != "about" {
		t.Errorf("a document: got %q", got)
	}
}

func TestNewRefuses(t *testing.T) {
	index := &fstest.MapFile{Data: []byte("x")}
	for _, row := range []struct {
		name    string
		sources []fs.FS
		want    string
	}{
		{"no document", []fs.FS{fstest.MapFS{"a.js": index}}, "no index.html"},
		{"twice", []fs.FS{fstest.MapFS{"index.html": index}, fstest.MapFS{"index.html.br": index}}, "two files index.html"},
		{"unknown kind", []fs.FS{fstest.MapFS{"index.html": index, "notes.doc": index}}, "notes.doc"},
		{"not brotli", []fs.FS{fstest.MapFS{"index.html.br": index}}, "index.html"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := New(row.sources...); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want an error about %q", err, row.want)
			}
		})
	}
}

// checkout writes a small module and returns its folder.
func checkout(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":  "module example.test/m\n\ngo 1.24\n",
		"main.go": "package main\n\nfunc main() { println(\"" + text + "\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func needsGo(t *testing.T) {
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
}

// The first of many at the same time builds, and all get the same; changed
// sources are built again, and the same ones are not.
func TestBuild(t *testing.T) {
	needsGo(t)
	dir, cache := checkout(t, "hello"), filepath.Join(t.TempDir(), "cache")
	var said atomic.Int32
	options := BuildOptions{Dir: dir, Packages: map[string]string{"game": "."}, Cache: cache, Quality: 1, Say: func(string) { said.Add(1) }}
	build := func() string {
		files, err := Build(t.Context(), options)
		if err != nil {
			t.Error(err)
			return ""
		}
		if _, err := fs.Stat(files, "wasm_exec.js"); err != nil {
			t.Error(err)
		}
		b, err := fs.ReadFile(files, "game.wasm.br")
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	var both [2]string
	var wait sync.WaitGroup
	for i := range both {
		wait.Go(func() { both[i] = build() })
	}
	wait.Wait()
	plain, err := io.ReadAll(brotli.NewReader(strings.NewReader(both[0])))
	if err != nil || !bytes.HasPrefix(plain, []byte("\x00asm")) || both[0] != both[1] {
		t.Fatalf("got %d and %d bytes, %v", len(both[0]), len(both[1]), err)
	}
	said.Store(0)
	old := filepath.Join(cache, "0123456789abcdef")
	if err := os.Mkdir(old, 0o777); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-30 * 24 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	if again := build(); again != both[0] || said.Load() != 0 {
		t.Errorf("the same sources were built %d times more", said.Load())
	}
	options.Dir = checkout(t, "other")
	if other := build(); other == both[0] || said.Load() != 1 {
		t.Errorf("other sources were built %d times, want 1", said.Load())
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was not used for long is still there: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "unfinished-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A module that go.mod replaces by a folder may change under an equal version.
func TestBuildKeyOfReplacedModule(t *testing.T) {
	needsGo(t)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("game/go.mod", "module game.test/game\n\ngo 1.26\n\nrequire engine.test/engine v1.0.0\n\nreplace engine.test/engine => ../engine\n")
	write("game/main.go", "package main\n\nimport \"engine.test/engine\"\n\nfunc main() { engine.Run() }\n")
	write("engine/go.mod", "module engine.test/engine\n\ngo 1.26\n")
	b := &build{BuildOptions: BuildOptions{Dir: filepath.Join(dir, "game"), Packages: map[string]string{"game": "."}}, tool: "go"}
	var keys [3]string
	for i, source := range []string{"package engine\n\nfunc Run() {}\n", "package engine\n\nfunc Run() { println() }\n", "package engine\n\nfunc Run() {}\n"} {
		write("engine/engine.go", source)
		var err error
		if keys[i], err = b.key(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if keys[0] == keys[1] || keys[0] != keys[2] {
		t.Errorf("got keys %v, want the first and the last to be equal only", keys)
	}
}

func TestBuildRefuses(t *testing.T) {
	needsGo(t)
	broken := checkout(t, `")`)
	cache := filepath.Join(t.TempDir(), "cache")
	if _, err := Build(t.Context(), BuildOptions{Dir: broken, Packages: map[string]string{"game": "."}, Cache: cache}); err == nil || !strings.Contains(err.Error(), "main.go") {
		t.Errorf("sources that do not compile: got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	library := checkout(t, "hello")
	source := filepath.Join(library, "library.go")
	if err := os.Rename(filepath.Join(library, "main.go"), source); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte("package library\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), BuildOptions{Dir: library, Packages: map[string]string{"game": "."}, Cache: cache}); err == nil || !strings.Contains(err.Error(), "not a main package") {
		t.Errorf("a library: got %v", err)
	}
	if _, err := Build(t.Context(), BuildOptions{Dir: t.TempDir(), Packages: map[string]string{"game": "."}, Cache: cache}); err == nil {
		t.Error("no module: built it")
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(t.Context(), BuildOptions{Dir: broken, Packages: map[string]string{"game": "."}, Cache: cache}); !errors.Is(err, ErrToolchain) {
		t.Errorf("no toolchain: got %v, want %v", err, ErrToolchain)
	}
}

// Files in a cache that others can write are not served.
func TestBuildPrivateCache(t *testing.T) {
	needsGo(t)
	if runtime.GOOS == "windows" {
		t.Skip("folders have no modes here")
	}
	cache := filepath.Join(t.TempDir(), "cache")
	options := BuildOptions{Dir: checkout(t, "hello"), Packages: map[string]string{"game": "."}, Cache: cache, Quality: 1}
	if _, err := Build(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), options); err == nil || !strings.Contains(err.Error(), "got a folder of mode 0777") {
		t.Errorf("a cache that anybody may write to: got %v", err)
	}
}

// A program serves no page of sources that are not its own: the page would compute another match under the same build name.
func TestBuildOfOtherSources(t *testing.T) {
	needsGo(t)
	dir, cache := checkout(t, "hello"), filepath.Join(t.TempDir(), "cache")
	own := filepath.Join(t.TempDir(), "program")
	main := filepath.Join(dir, "main.go")
	now := time.Now()
	at := func(name string, age time.Duration) {
		t.Helper()
		if err := os.Chtimes(name, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(own, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := func(name, want string) {
		t.Helper()
		_, err := Build(t.Context(), BuildOptions{Dir: dir, Packages: map[string]string{"game": "."}, Cache: cache, Quality: 1, Program: own})
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrOther) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	at(own, 2*time.Hour)
	made("sources that are newer than a program that never served them", "main.go was changed at")
	at(main, 3*time.Hour)
	made("its own sources", "")
	at(main, time.Hour)
	made("its own sources, written again", "")
	text, err := os.ReadFile(main)
	if err == nil {
		err = os.WriteFile(main, append(text, "\n// more\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	made("sources that have changed since", "main.go was changed at")
	at(own, 0)
	at(main, time.Minute)
	made("the program was built again", "")
	at(own, 50*365*24*time.Hour)
	made("a program without a time", "")
	info := &debug.BuildInfo{Deps: []*debug.Module{{Path: "example.test/a", Version: "v1.2.0"}, {Path: "example.test/b", Version: "v1.0.0", Replace: &debug.Module{Version: "v1.0.1"}}}}
	for _, row := range []struct {
		path, version string
		other         bool
	}{{"example.test/a", "v1.2.0", false}, {"example.test/a", "v1.3.0", true}, {"example.test/b", "v1.0.0", true}, {"example.test/b", "v1.0.1", false}, {"example.test/c", "v1.0.0", false}} {
		if err := compareVersion(info, &listedModule{Path: row.path, Version: row.version}); errors.Is(err, ErrOther) != row.other {
			t.Errorf("%s %s: got %v", row.path, row.version, err)
		}
	}
}
