package site

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// policy is the content security policy of all responses: scripts and styles come from this site only, and nothing is
// loaded from elsewhere.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; " +
	"font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A Site is a page and its files. It is immutable and safe for concurrent use.
type Site struct {
	hash  string
	files map[string]*file // by URL path
}

// New returns the Site of all files of some file systems. No two files may have the same name.
func New(sources ...fs.FS) (*Site, error) { return NewWith(nil, sources...) }

// NewWith is [New] with more files, which have the given contents.
func NewWith(made map[string][]byte, sources ...fs.FS) (*Site, error) {
	files, err := load(sources)
	for name, content := range made { // a map: any of the bad ones is named
		if err == nil {
			err = add(files, name, content)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	if files["index.html"] == nil {
		return nil, fmt.Errorf("site: no index.html")
	}
	s := &Site{hash: hashOf(files), files: make(map[string]*file)}
	names := namesOf(files, s.hash)
	for name, f := range files {
		if document(name) {
			if err := f.name(names); err != nil {
				return nil, fmt.Errorf("site: %s: %w", name, err)
			}
			f.cache, f.etag = noCache, `"`+s.hash+`"`
			s.files["/"+strings.TrimSuffix(name, "index.html")] = f
		} else {
			s.put("/page/"+s.hash+"/"+name, f)
		}
	}
	return s, nil
}

// NewFixed returns a Site of files at their own names, which must be hashes of their contents: browsers may cache them for ever.
func NewFixed(contents map[string][]byte) (*Site, error) {
	s, loaded := &Site{files: make(map[string]*file)}, make(map[string]*file)
	for name, b := range contents {
		if err := add(loaded, name, b); err != nil {
			return nil, fmt.Errorf("site: %w", err)
		}
		s.put("/"+name, loaded[name])
	}
	return s, nil
}

// put adds a file at a path that never gets another content.
func (s *Site) put(path string, f *file) {
	f.cache = "public, max-age=31536000, immutable"
	s.files[path] = f
}

// document reports whether a file has its own name as its path: a page, and what browsers find by its path or compare with the
// former one.
func document(name string) bool {
	return path.Ext(name) == ".html" && !strings.Contains(name, "/") || name == "manifest.json" || name == "serviceworker.js"
}

// namesOf returns what replaces the names in quotes in documents.
func namesOf(files map[string]*file, hash string) map[string][]byte {
	names, list := make(map[string][]byte), []byte{'['}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if document(name) {
			continue
		}
		at := strconv.Quote("/page/" + hash + "/" + name) // as in JSON: see load
		names[name] = []byte(at)
		list = append(append(list, at...), ',')
	}
	names["site:files"] = append(bytes.TrimSuffix(list, []byte{','}), ']')
	names["site:version"] = []byte(strconv.Quote(hash))
	return names
}

// hashOf returns a hash of the names and contents of files.
func hashOf(files map[string]*file) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s %d\n", name, len(files[name].source))
		h.Write(files[name].source)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// SizeBytes returns the size of a file as sent to a browser that accepts brotli, and 0 if there is no such file.
func (s *Site) SizeBytes(name string) int {
	f := s.files["/page/"+s.hash+"/"+name]
	if f == nil {
		f = s.files["/"+name]
	}
	if f == nil {
		return 0
	}
	body, _ := f.as(brotliCoding)
	return len(body)
}

// Over returns a handler that serves the site's files, and passes all other requests to next. Pages may connect to their own origin, and
// to those at also: https://HOST:PORT, or https://:PORT at the host of the request.
func (s *Site) Over(next http.Handler, also ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := s.files[r.URL.Path]
		if f == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		f.serve(w, r, policyWith(also, r.Host))
	})
}

// policyWith returns the policy with more origins to connect to, for a page at a host.
func policyWith(also []string, host string) string {
	own := "connect-src 'self'"
	list := own
	for _, origin := range also {
		if scheme, port, ok := strings.Cut(origin, "://:"); ok {
			at := &url.URL{Host: host}
			origin = scheme + "://" + net.JoinHostPort(at.Hostname(), port)
		}
		if !strings.ContainsAny(origin, " ;,'\"") { // a request has made that host up
			list += " " + origin
		}
	}
	return strings.Replace(policy, own, list, 1)
}

// A coding is a compression of a response.
type coding string

const (
	identity     coding = ""
	gzipCoding   coding = "gzip"
	brotliCoding coding = "br"
)

// types has the media types of a site's files, because the machine's own table may lack some. Browsers compile
// WebAssembly while it arrives only if it has its own type.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".wasm": "application/wasm",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".ico":  "image/x-icon",
	".film": "application/octet-stream",
}

// noCache lets browsers ask whether a document is still the same.
const noCache = "no-cache"

// A file is one file of a site, in all codings requested so far.
type file struct {
	source      []byte // the original content
	packed      bool   // source is compressed with brotli
	sizeBytes   int64  // without compression
	contentType string
	cache, etag string

	mu    sync.Mutex
	forms map[coding][]byte // filled on demand
}

// load reads all files.
func load(sources []fs.FS) (map[string]*file, error) {
	files := make(map[string]*file)
	for _, source := range sources {
		err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(source, name)
			if err != nil {
				return err
			}
			return add(files, name, b)
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// add adds a file.
func add(files map[string]*file, name string, b []byte) error {
	name, packed := strings.CutSuffix(name, ".br")
	contentType, ok := types[path.Ext(name)]
	if !ok {
		return fmt.Errorf("%s: files of that kind have no type here", name)
	}
	if files[name] != nil {
		return fmt.Errorf("two files %s", name)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\`, r) }) {
		return fmt.Errorf("%q: want a name of plain letters, which documents can have in quotes", name)
	}
	f := &file{source: b, packed: packed, contentType: contentType, sizeBytes: int64(len(b))}
	if packed {
		var err error
		if f.sizeBytes, err = io.Copy(io.Discard, brotli.NewReader(bytes.NewReader(b))); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	files[name] = f
	return nil
}

// name replaces names in quotes.
func (f *file) name(names map[string][]byte) error {
	b, err := f.as(identity)
	if err != nil {
		return err
	}
	f.source, f.packed, f.forms = quoted.ReplaceAllFunc(b, func(name []byte) []byte {
		if other, ok := names[strings.Trim(string(name), `"`)]; ok {
			return other
		}
		return name
	}), false, nil
	return nil
}

var quoted = regexp.MustCompile(`"[^"\s]+"`)

// as returns the file's bytes in a coding.
func (f *file) as(c coding) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.form(c)
}

func (f *file) form(c coding) ([]byte, error) {
	if c == brotliCoding && f.packed || c == identity && !f.packed {
		return f.source, nil
	}
	if b := f.forms[c]; b != nil {
		return b, nil
	}
	var out bytes.Buffer
	if c == identity {
		if _, err := out.ReadFrom(brotli.NewReader(bytes.NewReader(f.source))); err != nil {
			return nil, err
		}
	} else {
		b, err := f.form(identity)
		if err != nil {
			return nil, err
		}
		var w io.WriteCloser = gzip.NewWriter(&out)
		if c == brotliCoding {
			w = brotli.NewWriterLevel(&out, 9)
		}
		w.Write(b) // into memory
		w.Close()
	}
	if f.forms == nil {
		f.forms = make(map[coding][]byte)
	}
	f.forms[c] = out.Bytes()
	return f.forms[c], nil
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, policy string) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", f.cache)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if f.etag != "" {
		h.Set("ETag", f.etag)
		if r.Header.Get("If-None-Match") == f.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	c := accepted(r.Header.Values("Accept-Encoding"))
	body, err := f.as(c)
	if err != nil {
		http.Error(w, "the file is damaged", http.StatusInternalServerError)
		return
	}
	if c != identity {
		h.Set("Content-Encoding", string(c))
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if f.cache != noCache {
		h.Set("X-Decoded-Length", strconv.FormatInt(f.sizeBytes, 10)) // a page counts what has arrived
	}
	if r.Method != http.MethodHead {
		w.Write(body)
	}
}

// accepted returns the best coding that the values of Accept-Encoding allow: the one with the highest weight, or the
// smallest of these.
func accepted(values []string) coding {
	weights := map[coding]float64{}
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(part, ";")
			weight := 1.0
			if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
				var err error
				if weight, err = strconv.ParseFloat(q, 64); err != nil || weight < 0 || weight > 1 {
					weight = 0
				}
			}
			weights[coding(strings.ToLower(strings.TrimSpace(name)))] = weight
		}
	}
	best, most := identity, 0.0
	for _, c := range []coding{brotliCoding, gzipCoding} {
		weight, named := weights[c]
		if !named {
			weight = weights["*"]
		}
		if weight > most {
			best, most = c, weight
		}
	}
	return best
}
