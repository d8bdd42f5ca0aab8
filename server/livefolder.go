package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

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
