package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
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
