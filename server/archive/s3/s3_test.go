//go:build !js

package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/internal/testing/bucket"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
	"github.com/seed-49bee653/samestep/server/archive/s3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A cloud is object storage in this process.
type cloud struct {
	address string
	away    atomic.Int32 // requests that it refuses
	refused atomic.Int32
}

func newCloud(t *testing.T) *cloud {
	c, h := &cloud{}, bucket.New("league")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.away.Add(-1) >= 0 {
			c.refused.Add(1)
			panic(http.ErrAbortHandler) // the connection breaks
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	c.address = web.URL
	return c
}

// store opens a store as an operator's environment describes it.
func (c *cloud) store(t *testing.T, address string) *s3.Store {
	t.Helper()
	env := map[string]string{"AWS_ENDPOINT_URL": c.address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
	config, err := s3.FromEnvironment(address, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	s, err := s3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestStore(t *testing.T) {
	c := newCloud(t)
	s := c.store(t, "s3://league/eu/matches/")
	other := c.store(t, "s3://league")
	path := filepath.Join(t.TempDir(), "file")
	large := bytes.Repeat([]byte("0123456789abcdef"), 17<<16) // more than a part
	if err := errors.Join(os.WriteFile(path, large, 0o600), s.Put(t.Context(), "large.ssr", path), s.Write(t.Context(), "large.ssr.json", []byte("{}")), other.Write(t.Context(), "outside.ssr", []byte("{}"))); err != nil {
		t.Fatal(err)
	}
	f, err := s.Open(t.Context(), "large.ssr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(20, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); err != nil || !bytes.Equal(b, large[20:]) {
		t.Errorf("got %d bytes, %v, want %d", len(b), err, len(large)-20)
	}
	var listed []string
	if err := s.List(t.Context(), func(o archive.Object) error {
		if listed = append(listed, o.Name); o.Name == "large.ssr" && o.SizeBytes != int64(len(large)) {
			t.Errorf("listed with %d bytes, want %d", o.SizeBytes, len(large))
		}
		return nil
	}); err != nil || strings.Join(listed, " ") != "large.ssr large.ssr.json" {
		t.Errorf("listed %v, %v", listed, err)
	}
	for range 2 {
		if err := s.Delete(t.Context(), "large.ssr"); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Open(t.Context(), "large.ssr"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: got %v, want %v", err, fs.ErrNotExist)
	}
	if err := s.Put(t.Context(), "none.ssr", path+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	err = c.store(t, "s3://nobody").Write(t.Context(), "a.ssr", []byte("{}"))
	if err == nil || !strings.Contains(err.Error(), "s3: nobody/a.ssr: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("no such bucket: got %v", err)
	}
}

// The storage refuses one object for ever, or is away.
func TestRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("a replay"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		status  int
		code    string
		refused bool
	}{
		{400, "EntityTooLarge", true}, {400, "KeyTooLongError", true}, {413, "", true}, {405, "MethodNotAllowed", true},
		{400, "ExpiredToken", false}, {400, "RequestTimeout", false}, {403, "AccessDenied", false}, {404, "NoSuchBucket", false}, {503, "SlowDown", false}, {507, "XMinioStorageFull", false},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(x.status)
			if x.code != "" {
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", x.code)
			}
		}))
		s, err := s3.New(s3.Config{Bucket: "league", Endpoint: web.URL, Region: "us-east-1", AccessKey: "key", SecretKey: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), "a.ssr", path); err == nil || errors.Is(err, archive.ErrRefused) != x.refused {
			t.Errorf("%d %s: got %v, want refused: %t", x.status, x.code, err, x.refused)
		}
		s.Close()
		web.Close()
	}
}

// A replay stays on the disk until the storage has it, however long that is away, and across a restart.
func TestAway(t *testing.T) {
	c := newCloud(t)
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index.db")
	content, err := os.ReadFile("../../../testdata/replays/versions/v1-sealed.ssr")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "duel-01020300.ssr")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *archive.Archive {
		a, err := archive.New(archive.Options{Store: c.store(t, "s3://league/eu"), Index: index, Log: slog.New(slog.DiscardHandler), Retry: time.Millisecond, LongestRetry: 8 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		return a
	}
	c.away.Store(1 << 30)
	a := start()
	if err := errors.Join(a.Played(path, map[lockstep.Player]string{2: "ada"}), a.Adopt(dir)); err != nil {
		t.Fatal(err)
	}
	for c.refused.Load() < 3 {
		time.Sleep(time.Millisecond) // the test's own time limit ends this
	}
	a.Close()
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, content) {
		t.Fatalf("while the storage is away: %d bytes, %v", len(b), err)
	}
	a = start()
	if err := a.Adopt(dir); err != nil {
		t.Fatal(err)
	}
	c.away.Store(4) // and then it is back
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	f, err := a.Open(t.Context(), "duel-01020300.ssr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || !bytes.Equal(b, content) {
		t.Errorf("from the storage: %d bytes, %v", len(b), err)
	}
	a.Close()
	for _, described := range []bool{true, false} {
		if err := os.Remove(index); err != nil {
			t.Fatal(err)
		}
		if !described {
			if err := c.store(t, "s3://league/eu").Delete(t.Context(), "duel-01020300.ssr.json"); err != nil {
				t.Fatal(err)
			}
		}
		a = start()
		if err := a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		found, _, err := a.Find(t.Context(), server.ArchiveQuery{Player: "player 1 é"})
		if err != nil || len(found) != 1 || found[0].SizeBytes != int64(len(content)) || (found[0].Subjects[2] == "ada") != described {
			t.Errorf("a new index, described=%v: got %+v, %v", described, found, err)
		}
		a.Close()
	}
}

// Each of two servers finds what the other one stores.
func TestTwoArchives(t *testing.T) {
	c := newCloud(t)
	content, err := os.ReadFile("../../../testdata/replays/versions/v1-sealed.ssr")
	if err != nil {
		t.Fatal(err)
	}
	var archives []*archive.Archive
	for i := range 2 {
		a, err := archive.New(archive.Options{
			Store: c.store(t, "s3://league/eu"), Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler), Follow: 10 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		archives = append(archives, a)
		path := filepath.Join(t.TempDir(), fmt.Sprintf("m%d-01020300.ssr", i))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		a.Add(path)
	}
	for _, want := range []int{2, 1} {
		for _, a := range archives {
			for found, deadline := []server.Archived(nil), time.Now().Add(time.Minute); len(found) != want; time.Sleep(time.Millisecond) {
				if found, _, err = a.Find(t.Context(), server.ArchiveQuery{}); err != nil || time.Now().After(deadline) {
					t.Fatalf("found %d replays, want %d, %v", len(found), want, err)
				}
			}
		}
		if want == 2 {
			if err := archives[1].Delete(t.Context(), "m0-01020300.ssr"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
	for _, x := range []struct {
		address string
		env     map[string]string
		want    string // of the error
	}{
		{"s3://league", keys, ""},
		{"s3://league/eu", keys, ""},
		{"s3://", keys, "want an address such as s3://BUCKET/PREFIX"},
		{"https://league", keys, "want an address such as s3://BUCKET/PREFIX"},
		{"s3://key:hidden@league", keys, "without keys in it"},
		{"s3://league", nil, "want AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
	} {
		_, err := s3.FromEnvironment(x.address, func(name string) string { return x.env[name] })
		if (err == nil) != (x.want == "") || err != nil && (!strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "hidden")) {
			t.Errorf("%s: got %v, want %q", x.address, err, x.want)
		}
	}
	for _, endpoint := range []string{"minio:9000", "ftp://minio", "https://minio/path"} {
		if _, err := s3.New(s3.Config{Bucket: "league", Endpoint: endpoint}); err == nil || !strings.Contains(err.Error(), "want https://HOST") {
			t.Errorf("%s: got %v", endpoint, err)
		}
	}
}
