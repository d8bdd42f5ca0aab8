package site

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

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
