//go:build !js

package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/seed-49bee653/samestep/server/archive"
)

// Config says where a store is, and who it belongs to.
type Config struct {
	Bucket string
	Prefix string // of the names of all objects, such as matches/eu

	Endpoint     string // https://HOST or http://HOST; Amazon's if empty
	Region       string // found out if empty
	AccessKey    string
	SecretKey    string
	SessionToken string
}

// FromEnvironment returns the Config of an address such as s3://BUCKET/PREFIX. Endpoint, region and keys are in the usual
// variables of the environment: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
func FromEnvironment(address string, getenv func(string) string) (Config, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return Config{}, errors.New("s3: want an address such as s3://BUCKET/PREFIX, without keys in it")
	}
	c := Config{
		Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Region: getenv("AWS_REGION"),
		AccessKey: getenv("AWS_ACCESS_KEY_ID"), SecretKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
	}
	if c.Endpoint = getenv("AWS_ENDPOINT_URL_S3"); c.Endpoint == "" {
		c.Endpoint = getenv("AWS_ENDPOINT_URL")
	}
	if c.AccessKey == "" || c.SecretKey == "" {
		return Config{}, errors.New("s3: want AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
	}
	return c, nil
}

// A Store is an [archive.Store] in a bucket.
type Store struct {
	client    *minio.Client
	transport *http.Transport
	c         Config
}

// requestTimeout is the time limit of a request without a replay in it.
const requestTimeout = time.Minute

// uploadTimeout is the time limit of an upload. The next attempt begins again.
const uploadTimeout = time.Hour

// maxRequest is the size limit of an object that is sent in one request, in bytes; S3 sets it.
const maxRequest = 5 << 30

// New returns a store. It sends nothing yet, so a store that is away is no error.
func New(c Config) (*Store, error) {
	if c.Endpoint == "" {
		c.Endpoint = "https://s3.amazonaws.com"
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("s3: got the endpoint %q, want https://HOST or http://HOST", c.Endpoint)
	}
	if err := s3utils.CheckValidBucketName(c.Bucket); err != nil {
		return nil, fmt.Errorf("s3: got the bucket %q: %w", c.Bucket, err)
	}
	transport, err := minio.DefaultTransport(u.Scheme == "https")
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	client, err := minio.New(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken), Secure: u.Scheme == "https", Region: c.Region,
		Transport: transport, MaxRetries: 1, // the archive tries again, for as long as it takes
	})
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	return &Store{client, transport, c}, nil
}

// Close closes idle connections.
func (s *Store) Close() { s.transport.CloseIdleConnections() }

func (s *Store) key(name string) string { return path.Join(s.c.Prefix, name) }

// refusals are the codes of errors that are about one object, and that no time mends.
var refusals = map[string]bool{
	minio.EntityTooLarge: true, minio.InvalidArgument: true, "InvalidRequest": true, "InvalidURI": true, "KeyTooLongError": true,
	minio.MethodNotAllowed: true, minio.XMinioInvalidObjectName: true,
}

// failed names the object in an error, which has neither keys nor signatures.
func (s *Store) failed(name string, err error) error {
	if err == nil {
		return nil
	}
	switch r := minio.ToErrorResponse(err); {
	case r.Code == minio.NoSuchKey || r.Code == "NotFound":
		err = fs.ErrNotExist
	case refusals[r.Code] || r.StatusCode == http.StatusRequestEntityTooLarge || r.StatusCode == http.StatusRequestURITooLong:
		err = fmt.Errorf("%w: %w", archive.ErrRefused, err)
	}
	return fmt.Errorf("s3: %s/%s: %w", s.c.Bucket, s.key(name), err)
}

// Put implements [archive.Store]. The storage compares a checksum of what it got.
func (s *Store) Put(ctx context.Context, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	return s.put(ctx, name, f, info.Size())
}

// Write implements [archive.Store].
func (s *Store) Write(ctx context.Context, name string, content []byte) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return s.put(ctx, name, bytes.NewReader(content), int64(len(content)))
}

func (s *Store) put(ctx context.Context, name string, content io.Reader, size int64) error {
	kind := "application/octet-stream"
	if strings.HasSuffix(name, ".json") {
		kind = "application/json"
	}
	got, err := s.client.PutObject(ctx, s.c.Bucket, s.key(name), content, size, minio.PutObjectOptions{
		ContentType: kind, SendContentMd5: true, NumThreads: 1,
		DisableMultipart: size <= maxRequest, // an upload in parts that a crash cuts short costs money for ever
	})
	if err == nil && got.Size != size {
		err = fmt.Errorf("stored %d bytes, want %d", got.Size, size)
	}
	return s.failed(name, err)
}

// Open implements [archive.Store].
func (s *Store) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	f, err := s.client.GetObject(ctx, s.c.Bucket, s.key(name), minio.GetObjectOptions{})
	if err != nil {
		return nil, s.failed(name, err)
	}
	if _, err := f.Stat(); err != nil { // GetObject has sent nothing
		f.Close()
		return nil, s.failed(name, err)
	}
	return f, nil
}

// Delete implements [archive.Store].
func (s *Store) Delete(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := s.failed(name, s.client.RemoveObject(ctx, s.c.Bucket, s.key(name), minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// List implements [archive.Store].
func (s *Store) List(ctx context.Context, each func(archive.Object) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prefix := s.c.Prefix
	if prefix != "" {
		prefix += "/"
	}
	for o := range s.client.ListObjectsIter(ctx, s.c.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: false}) {
		if o.Err != nil {
			return s.failed("", o.Err)
		}
		if strings.HasSuffix(o.Key, "/") {
			continue
		}
		if err := each(archive.Object{Name: strings.TrimPrefix(o.Key, prefix), SizeBytes: o.Size, Written: o.LastModified.UTC()}); err != nil {
			return err
		}
	}
	return ctx.Err()
}
