package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/tries"
	"github.com/seed-49bee653/samestep/replay"
)

// ErrSetAside: the process has ended during the last two tries to resume the match, in which it resumed no other one. An admin can have it
// tried again.
var ErrSetAside = errors.New("server: the match has ended the process twice while it was resumed, and is set aside")

// triesPath returns the path of what is known against the match of a log.
func triesPath(log string) string { return strings.TrimSuffix(log, ".ssr") + ".tries" }

// readTries returns what is known against the match of a log.
func readTries(log string) (r tries.Record, err error) {
	f, err := files.OpenNoFollow(triesPath(log))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("server: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 { // which forgetTries leaves
		return r, err
	}
	if err := json.NewDecoder(f).Decode(&r); err != nil || r.Deaths < 0 {
		return r, fmt.Errorf("server: %s: got no record of tries: %w", triesPath(log), err)
	}
	return r, nil
}

// writeTries keeps what is known against the match of a log. It is on the disk when writeTries returns.
func writeTries(log string, r tries.Record) error {
	path := triesPath(log)
	if r == (tries.Record{}) {
		return forgetTries(path)
	}
	part := path + ".part"
	err := files.Replace(part, func(f *os.File) error { return json.NewEncoder(f).Encode(r) })
	if err == nil {
		err = replay.Replace(part, path)
	}
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// forgetTries removes a record. A crash of the machine may bring the file back, but empty.
func forgetTries(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), os.Remove(path))
	}
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}
