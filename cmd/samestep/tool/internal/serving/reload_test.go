//go:build unix && !js

package serving

import (
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"
)

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
	for _, x := range []struct{ text, want, failed string }{{"22", "level=INFO msg=reloaded flag=--file", "0"}, {"bad", "it is bad", "1"}, {"4444", "level=INFO", "0"}} {
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

// SIGHUP reloads the list of tokens. An invalid list changes nothing.
func TestReloadOnHangup(t *testing.T) {
	const ada, bob = "player - ada - ada-ada-ada-ada-ada\n", "player - bob - bob-bob-bob-bob-bob\n"
	path := filepath.Join(t.TempDir(), "tokens")
	write := func(list string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ada)
	tokens, err := server.ReadTokens(strings.NewReader(ada))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Authorizer: tokens})
	if err != nil {
		t.Fatal(err)
	}
	read := func(s *server.Server, log *slog.Logger) error { return reloadTokens(path, tokens, s, log) }
	files := reloader{newReloadable("tokens", read, path)}
	stop := files.watch(s, slog.New(slog.DiscardHandler), time.Hour)
	defer func() { stop() }()
	knows := func(token string) bool {
		_, err := tokens.Authorize(token, "")
		return err == nil
	}
	write(bob)
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); !knows("bob-bob-bob-bob-bob"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the list was not read again")
		}
	}
	if knows("ada-ada-ada-ada-ada") {
		t.Error("a token that is not in the list any more is still good")
	}
	write("nonsense")
	if err := read(s, slog.New(slog.DiscardHandler)); err == nil || !knows("bob-bob-bob-bob-bob") {
		t.Errorf("a list that is none: got %v, and the one before holds: %t", err, knows("bob-bob-bob-bob-bob"))
	}
	stop()
	said := make(lines, 1)
	stop = reloader(nil).watch(s, slog.New(slog.NewTextHandler(said, nil)), time.Hour)
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil { // which would end the tests
		t.Fatal(err)
	}
	select {
	case line := <-said:
		if !strings.Contains(line, "no --settings, --tokens") {
			t.Errorf("without a file a SIGHUP is answered with %q", line)
		}
	case <-time.After(30 * time.Second):
		t.Error("without a file a SIGHUP is not answered")
	}
}
