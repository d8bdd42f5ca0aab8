//go:build !js

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"regexp"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// SaveCommand returns the verb save.
func SaveCommand() *cli.Command {
	return &cli.Command{
		Name:      "save",
		Usage:     "write a replay of a live match up to now",
		ArgsUsage: "URL [FILE]",
		Description: `Saves the match at a URL such as http://127.0.0.1:8766/matches/match-1, which goes on.
The token must be an admin's, because a save has what players must not see. The replay
has an end, and verifies like that of a match that is over. FILE must not exist; without
it, the server names the file. To play on from the save: samestep serve --from FILE

Other users can see a token on the command line; prefer --token-file or the
environment variable ` + console.TokenEnv + `.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "token", Usage: "authorizes you", EnvVars: []string{console.TokenEnv}},
			&cli.StringFlag{Name: "token-file", Usage: "`FILE` with the token"},
			console.JSONFlag,
		},
		Action: save,
	}
}

// A savedReplay is the result of save.
type savedReplay struct {
	File        string             `json:"file"`
	Match       string             `json:"match"`
	Tick        lockstep.Tick      `json:"tick"`
	SizeBytes   int64              `json:"size_bytes,string"`
	ContentHash replay.ContentHash `json:"content_hash"`
}

// maxSave is the largest replay that save takes from a server, in bytes.
const maxSave = 16 << 30

func save(c *cli.Context) error {
	page, _, err := matchURLs(c.Args().First())
	if err != nil {
		return err
	}
	token, err := console.ClientToken(c)
	if err != nil {
		return err
	}
	ctx, stop := console.Interruptible(c)
	defer stop()
	answer, err := askForSave(ctx, page, token)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	s := &savedReplay{File: c.Args().Get(1)}
	if s.File == "" {
		if s.File = nameOf(answer); s.File == "" {
			return errors.New("the server gave the save no name of a replay: want FILE")
		}
	}
	if err := files.Create(s.File, func(f *os.File) error { return s.take(f, answer.Body) }); err != nil {
		return err
	}
	return gameset.Tell(c, s, func(w io.Writer) {
		fmt.Fprintf(w, "saved %s: %s, %s\n", s.File, console.Count(s.Tick, "tick"), console.Size(s.SizeBytes))
	}, nil)
}

// askForSave asks a server for a save.
func askForSave(ctx context.Context, page, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page+"/save", nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("%s: %s%s", r.URL, console.StatusOf(answer), saveHints[answer.StatusCode])
	}
	return answer, nil
}

// saveHints say what statuses mean for a save.
var saveHints = map[int]string{
	http.StatusForbidden: ": want the token of an admin",
	http.StatusNotFound:  ": there is no such match",
	http.StatusConflict:  ": the server writes no replays",
	http.StatusGone:      ": the match is over, its replay is complete",
}

// savedName is the name of a replay in the present folder.
var savedName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,120}\.ssr$`)

// nameOf returns the name that a server gives a save, or "" if it is none.
func nameOf(answer *http.Response) string {
	_, words, _ := mime.ParseMediaType(answer.Header.Get("Content-Disposition"))
	if name := words["filename"]; savedName.MatchString(name) {
		return name
	}
	return ""
}

// take writes a save to f, and reads it back: an answer that breaks off has no end.
func (s *savedReplay) take(f *os.File, body io.Reader) (err error) {
	if s.SizeBytes, err = io.Copy(f, io.LimitReader(body, maxSave)); err != nil {
		return fmt.Errorf("the save broke off after %d bytes: %w", s.SizeBytes, err)
	}
	r, err := replay.NewReader(f, s.SizeBytes)
	if err != nil {
		return fmt.Errorf("the save: %w", err)
	}
	info, err := replay.ReadInfo(r)
	if err := cmp.Or(err, unended(info)); err != nil {
		return fmt.Errorf("the save: %w", err)
	}
	s.Match, s.Tick, s.ContentHash = info.Header.Match.String(), info.Ticks, info.ContentHash
	if len(info.Keyframes) > 0 {
		s.Tick = max(s.Tick, info.Keyframes[0].Tick)
	}
	return nil
}

// unended returns an error for a replay without an end.
func unended(info *replay.Info) error {
	if info.Ended {
		return nil
	}
	return io.ErrUnexpectedEOF
}
