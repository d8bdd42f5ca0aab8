package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/tries"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

var matchName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// denialsFolder is the folder in Options.Dir with the bans and revocations of a server that has no other Denials.
const denialsFolder = "denials"

// ErrNeverBegan: a crash left the file of a log without a header.
var ErrNeverBegan = errors.New("server: the log has no header: its match never began")

// LiveLogs returns the paths of the logs in the server's folder dir whose matches are not over. They are in its folder
// "live"; without one there are none.
func LiveLogs(dir string) ([]string, error) {
	live := filepath.Join(dir, liveFolder)
	entries, err := os.ReadDir(live)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("server: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if replayName.MatchString(e.Name()) && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(live, e.Name()))
		}
	}
	return paths, nil
}

// resumedName returns the match's name in the path of a replay.
func resumedName(path string, h *lockstep.Header) (string, error) {
	base, end := filepath.Base(path), "-"+h.Match.String()[:8]+".ssr"
	name := MatchOfLog(path)
	if name+end != base || !matchName.MatchString(name) {
		return "", fmt.Errorf("%w: got the file name %q, want NAME%s", ErrName, base, end)
	}
	return name, nil
}

// CheckLog returns why [Server.Resume] or [Server.Recover] would refuse the log of a match of game g: its header, its file's name, its bans, an asset, or that it is set aside. It
// neither locks nor simulates the match, which may still be running.
func CheckLog(path string, g *lockstep.Game) error {
	f, err := replay.OpenNoFollow(path)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	defer f.Close()
	h, err := f.Header()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrNeverBegan
	}
	if err == nil {
		_, err = resumedName(path, h)
	}
	if err == nil {
		d, key := denialsIn(filepath.Dir(filepath.Dir(path))), banKeyOf(h.Match)
		if value, unread := d.Get(key); unread != nil {
			err = unread
		} else if _, wrong := parseBans(value); wrong != nil {
			err = wrongBans(d.path(key), wrong)
		}
	}
	if err == nil {
		_, err = g.AwaitState(h) // loads the assets
	}
	if known, cannot := readTries(path); err == nil && cannot == nil && known.SetAside() {
		err = ErrSetAside
	}
	return err
}

// MatchOfLog returns the name of the match in the path of its log, or "" if it has none.
func MatchOfLog(path string) string {
	base := filepath.Base(path)
	const id = len("-01234567.ssr")
	if !replayName.MatchString(base) || len(base) <= id {
		return ""
	}
	return base[:len(base)-id]
}

// DenialsIn returns the denials in a server's folder, which a server with Options.Dir has unless it is given others.
func DenialsIn(dir string) Denials { return denialsIn(dir) }

func denialsIn(dir string) *denialFolder {
	return &denialFolder{folder: filepath.Join(dir, denialsFolder), live: filepath.Join(dir, liveFolder)}
}

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
