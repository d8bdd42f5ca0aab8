package assets_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/assets"
)

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "assets")
	f := assets.Folder{Dir: dir}
	content := []byte("a map")
	a, err := record.NewAsset("valley.map", content)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(a); !errors.Is(err, record.ErrNoAsset) || !strings.Contains(err.Error(), "valley.map") {
		t.Errorf("got %v from a folder that does not exist, want the asset that is missing", err)
	}
	if err := f.Write(a, []byte("a mop")); !errors.Is(err, record.ErrAssetContent) {
		t.Errorf("got %v for another content, want ErrAssetContent", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a wrong content was stored")
	}
	if added, err := f.Add("valley.map", content); err != nil || added != a {
		t.Fatalf("got %v, %v, want %v", added, err, a)
	}
	if got, err := f.Read(a); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %q, %v, want %q", got, err, content)
	}
	path := filepath.Join(dir, a.SHA256)
	for _, damaged := range []string{"", "a ma", "a mop", "a map that is longer"} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(a); !errors.Is(err, record.ErrAssetContent) {
			t.Errorf("got %v for a file %q, want ErrAssetContent", err, damaged)
		}
	}
	if err := f.Write(a, content); err != nil { // mends it
		t.Fatal(err)
	}
	if _, err := f.Read(a); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("got %d files, %v, want only the asset", len(entries), err)
	}
}

// A sum is a file name, so nothing else may be one.
func TestFolderRefusesPaths(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("a map"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := record.NewAsset("valley.map", []byte("a map"))
	if err != nil {
		t.Fatal(err)
	}
	f := assets.Folder{Dir: filepath.Join(dir, "assets")}
	for _, sum := range []string{"../secret", "", ".", strings.Repeat("../", 20) + "abcd"} {
		b := a
		b.SHA256 = sum
		if _, err := f.Read(b); !errors.Is(err, record.ErrAsset) {
			t.Errorf("read sum %q: got %v, want ErrAsset", sum, err)
		}
		if err := f.Write(b, []byte("a map")); !errors.Is(err, record.ErrAsset) {
			t.Errorf("write sum %q: got %v, want ErrAsset", sum, err)
		}
	}
	// A link in place of a file is not followed.
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(f.Dir, a.SHA256)); err != nil {
		t.Skip(err)
	}
	if _, err := f.Read(a); !errors.Is(err, record.ErrNoAsset) {
		t.Errorf("got %v for a link, want ErrNoAsset", err)
	}
}

// A cache removes what was not read for the longest time, and nothing that is no asset.
func TestFolderIsBounded(t *testing.T) {
	f := assets.Folder{Dir: t.TempDir(), MaxBytes: 250}
	other := filepath.Join(f.Dir, "notes.txt")
	if err := os.WriteFile(other, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	var list []record.Asset
	for i := range 3 {
		a, err := f.Add(fmt.Sprint("map", i), bytes.Repeat([]byte{byte(i)}, 100))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
		old := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(f.Dir, a.SHA256), old, old); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // the first is used again
			if _, err := f.Read(list[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, want := range []error{nil, record.ErrNoAsset, nil} {
		if _, err := f.Read(list[i]); !errors.Is(err, want) {
			t.Errorf("asset %d: got %v, want %v", i, err, want)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func ExampleFolder() {
	dir, err := os.MkdirTemp("", "assets")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	folder := assets.Folder{Dir: dir}
	valley, err := folder.Add("valley.map", []byte("T..T\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	content, err := folder.Read(valley)
	fmt.Printf("%s: %q %v\n", valley.Name, content, err)
	// Output: valley.map: "T..T\n" <nil>
}
