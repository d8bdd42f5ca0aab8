//go:build !js

package tool

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// newPair writes a new certificate with a number, and its key.
func newPair(t *testing.T, number int64, cert, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(number), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A certificate that is replaced is shown to new connections. Files that do not go together change nothing.
func TestReloadCertificate(t *testing.T) {
	testenv.Long(t) // it waits for the next look at the files
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	newPair(t, 1, cert, key)
	s := serveInTest(t, "--dir", "", "--matches", "0", "--tls-cert", cert, "--tls-key", key)
	shown := func() int64 {
		t.Helper()
		c, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if got := shown(); got != 1 {
		t.Fatalf("got certificate %d, want 1", got)
	}
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer web.CloseIdleConnections()
	answer, err := web.Get(strings.TrimSuffix(s.url, "/") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if left := regexp.MustCompile(`(?m)^samestep_certificate_seconds\{flag="tls-cert"\} 35\d\d\.`); err != nil || !left.Match(text) {
		t.Errorf("got %s, %v, want a certificate for an hour", text, err)
	}
	newPair(t, 22, cert, key)
	for deadline := time.Now().Add(time.Minute); shown() != 22; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new certificate is not shown")
		}
	}
}

// Files are read again when they have changed. What cannot be read changes nothing, and is tried again when it changes.
func TestReloadOnChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil { // it changes once
			t.Fatal(err)
		}
	}
	write("1")
	read := make(chan string)
	files := reloader{newReloadable("file", func(*server.Server, *slog.Logger) error {
		b, err := os.ReadFile(path)
		read <- string(b)
		if string(b) == "bad" {
			err = errors.New("it is bad")
		}
		return err
	}, path)}
	var o server.Options
	files.measure(&o)
	measured, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	failed := func(want string) {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "http://127.0.0.1/metrics", nil)
		r.RemoteAddr = "127.0.0.1:1"
		measured.ServeHTTP(w, r)
		if line := "samestep_reload_failed{flag=\"file\"} " + want + "\n"; !strings.Contains(w.Body.String(), line) {
			t.Errorf("got no %s in %s", line, w.Body)
		}
	}
	failed("0")
	said := make(lines, 1)
	defer files.watch(nil, slog.New(slog.NewTextHandler(said, nil)), time.Millisecond)()
	for _, x := range []struct{ text, want, failed string }{{"22", "level=INFO msg=\"read again\" flag=--file", "0"}, {"bad", "it is bad", "1"}, {"4444", "level=INFO", "0"}} {
		write(x.text)
		select {
		case got := <-read:
			if line := <-said; got != x.text || !strings.Contains(line, x.want) {
				t.Errorf("%s: got %q and the line %s, want %q", x.text, got, line, x.want)
			}
			failed(x.failed)
		case <-time.After(time.Minute):
			t.Fatalf("%s was not read", x.text)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	<-read
	if line := <-said; !strings.Contains(line, "level=ERROR") {
		t.Errorf("a file that is gone: got the line %s", line)
	}
	failed("1")
}

// A file that Kubernetes mounts is a link through a link to a folder, and only the inner link is replaced.
func TestReloadMounted(t *testing.T) {
	dir := t.TempDir()
	mount := func(folder, text string) {
		t.Helper()
		err := errors.Join(os.Mkdir(filepath.Join(dir, folder), 0o700), os.WriteFile(filepath.Join(dir, folder, "file"), []byte(text), 0o600))
		if err == nil {
			err = os.Symlink(folder, filepath.Join(dir, "..new"))
		}
		if err == nil {
			err = os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data"))
		}
		if err != nil {
			t.Skip("this system has no such links: ", err)
		}
	}
	path := filepath.Join(dir, "file")
	mount("..1", "a")
	if err := os.Symlink(filepath.Join("..data", "file"), path); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	files := reloader{newReloadable("file", func(*server.Server, *slog.Logger) error {
		b, err := os.ReadFile(path)
		read <- string(b)
		return err
	}, path)}
	defer files.watch(nil, slog.New(slog.DiscardHandler), time.Millisecond)()
	mount("..2", "bb")
	select {
	case got := <-read:
		if got != "bb" {
			t.Errorf("got %q, want the new file", got)
		}
	case <-time.After(time.Minute):
		t.Error("the new file was not read")
	}
}

// lines takes what is written to it.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}
