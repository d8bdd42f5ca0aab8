// Package bucket is object storage in memory, with the part of S3's protocol that package s3 uses: objects are put whole, read
// in ranges, listed in pages and deleted. It checks lengths and MD5 sums of what it gets, and no signatures.
package bucket

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// page is the number of objects in a page of a list. It is small, so that tests list more than one page.
const page = 3

type object struct {
	content []byte
	written time.Time
}

func (o object) etag() string { return fmt.Sprintf(`"%x"`, md5.Sum(o.content)) }

// A Bucket serves one bucket at /NAME.
type Bucket struct {
	name    string
	mu      sync.Mutex
	objects map[string]object
}

// New returns an empty bucket.
func New(name string) *Bucket { return &Bucket{name: name, objects: make(map[string]object)} }

// ServeHTTP implements [http.Handler].
func (b *Bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	o, ok := b.objects[key]
	switch {
	case name != b.name:
		fail(w, http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodGet && key == "":
		b.list(w, r)
	case r.Method == http.MethodPut && key != "" && r.URL.RawQuery == "":
		b.put(w, r, key)
	case r.Method == http.MethodDelete && key != "":
		delete(b.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		fail(w, http.StatusNotImplemented, "NotImplemented")
	case !ok:
		fail(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", o.etag())
		http.ServeContent(w, r, key, o.written, bytes.NewReader(o.content))
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>refused</Message></Error>", code)
}

func (b *Bucket) put(w http.ResponseWriter, r *http.Request, key string) {
	body, size := io.Reader(r.Body), r.ContentLength
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") { // its chunks are those of HTTP, with signatures as extensions
		body = httputil.NewChunkedReader(r.Body)
		size, _ = strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64)
	}
	content, err := io.ReadAll(body)
	sum := md5.Sum(content)
	switch {
	case err != nil || int64(len(content)) != size:
		fail(w, http.StatusBadRequest, "IncompleteBody")
	case r.Header.Get("Content-Md5") != base64.StdEncoding.EncodeToString(sum[:]):
		fail(w, http.StatusBadRequest, "BadDigest")
	default:
		o := object{content, time.Now()}
		b.objects[key] = o
		w.Header().Set("ETag", o.etag())
	}
}

func (b *Bucket) list(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		Key          string
		Size         int
		LastModified string
		ETag         string
	}
	type common struct{ Prefix string }
	var answer struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []entry
		CommonPrefixes        []common
	}
	q := r.URL.Query()
	prefix, last := q.Get("prefix"), q.Get("continuation-token")
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if !strings.HasPrefix(key, prefix) || key <= last {
			continue
		}
		if len(answer.Contents)+len(answer.CommonPrefixes) == page {
			answer.IsTruncated, answer.NextContinuationToken = true, last
			break
		}
		if folder, _, ok := strings.Cut(key[len(prefix):], "/"); ok && q.Get("delimiter") == "/" {
			c := common{prefix + folder + "/"}
			if !slices.Contains(answer.CommonPrefixes, c) {
				answer.CommonPrefixes = append(answer.CommonPrefixes, c)
			}
		} else {
			o := b.objects[key]
			answer.Contents = append(answer.Contents, entry{key, len(o.content), o.written.UTC().Format(time.RFC3339Nano), o.etag()})
		}
		last = key
	}
	w.Header().Set("Content-Type", "application/xml")
	xml.NewEncoder(w).Encode(answer)
}
