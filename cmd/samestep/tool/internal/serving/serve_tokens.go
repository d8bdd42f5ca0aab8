//go:build !js

package serving

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// authorizer authorizes by the tokens of a file, the environment or a key, or else by tokens that it draws. It also returns the files.
func authorizer(c *cli.Context, specs []server.MatchSpec, log *slog.Logger) (server.Authorizer, reloader, error) {
	var all []server.Authorizer
	var files reloader
	if c.String("jwt-key") != "" {
		signed, file, err := signedTokens(c)
		if err != nil {
			return nil, nil, err
		}
		all, files = append(all, signed), append(files, file)
	} else if jwtOptions(c) != (server.JWTOptions{}) {
		return nil, nil, console.Usagef("jwt-algorithm, jwt-audience and jwt-issuer need jwt-key")
	}
	draw := len(all) == 0
	onlyListed := draw && c.Uint("guests") == 0 && !c.IsSet("player-tokens")
	if c.IsSet("player-tokens") {
		all, specs = append(all, playerTokens(c)), nil // so the only drawn tokens are those without a seat
	}
	list := os.Getenv(console.TokensEnv)
	if path := c.String("tokens"); path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		if list = string(b); onlyListed && !hasLine(list) {
			return nil, nil, console.Usagef("--tokens: got no token in %s, want at least one", path)
		}
	} else if list == "" && draw {
		var err error
		if list, err = drawnTokens(c, specs); err != nil {
			return nil, nil, err
		}
	}
	if list != "" {
		tokens, err := server.ReadTokens(strings.NewReader(list))
		if err != nil {
			return nil, nil, err
		}
		all = append(all, tokens)
		if onlyListed {
			warnSeats(log, tokens, specs)
		}
		if path := c.String("tokens"); path != "" {
			files = append(files, newReloadable("tokens", (&tokenFile{path, tokens}).reload, path))
		}
	}
	if len(all) == 1 {
		return all[0], files, nil // from its type the server knows how many tokens there are
	}
	return server.AnyOf(all...), files, nil
}

// hasLine reports whether a list of tokens has a line that is not a comment.
func hasLine(list string) bool {
	for line := range strings.Lines(list) {
		if words, _, _ := strings.Cut(line, "#"); strings.TrimSpace(words) != "" {
			return true
		}
	}
	return false
}

// warnSeats warns of the seats of seat that nobody can take, unless a token is added.
func warnSeats(log *slog.Logger, tokens *server.Tokens, specs []server.MatchSpec) {
	for i := range specs {
		for seat, who := range specs[i].Players {
			if who != "" && !tokens.HasPlayer(who, specs[i].Name) {
				logged.Match(log, specs[i].Name, "").Warn("nobody can take a seat: no token has the name or the subject of seat", "seat", seat, "player", who)
			}
		}
	}
}

// jwtOptions returns the options of the flags.
func jwtOptions(c *cli.Context) server.JWTOptions {
	return server.JWTOptions{Algorithm: c.String("jwt-algorithm"), Audience: c.String("jwt-audience"), Issuer: c.String("jwt-issuer")}
}

// signedTokens returns the authorizer with the keys of jwt-key.
func signedTokens(c *cli.Context) (*server.JWT, *reloadable, error) {
	path := c.String("jwt-key")
	keys, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	signed, err := server.NewJWT(keys, jwtOptions(c))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return signed, newReloadable("jwt-key", func(*server.Server, *slog.Logger) error {
		keys, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return signed.Reload(keys)
	}, path), nil
}

// drawnFile is the file in --dir with the tokens that the server has drawn.
const drawnFile = "tokens.txt"

// drawnTokens returns a list of drawn tokens, and writes it to a file that only the user can read. With --resume the
// tokens in that file stay. A terminal shows the list, for the person who has started the server.
func drawnTokens(c *cli.Context, specs []server.MatchSpec) (list string, err error) {
	dir := c.String("dir")
	path := filepath.Join(dir, drawnFile)
	if dir != "" && c.Bool("resume") {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		list = string(b)
	}
	list += drawTokens(specs, list)
	if c.Bool("check-config") {
		return list, nil
	}
	if dir != "" {
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			err = files.Replace(path, func(f *os.File) error {
				_, err := f.WriteString(list)
				return err
			})
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(c.App.Writer, "tokens in %s\n", path)
	}
	if dir == "" || c.Bool("print-tokens") || console.IsTerminal(c.App.Writer) {
		fmt.Fprint(c.App.Writer, list)
	}
	return list, nil
}

// drawTokens returns a list of tokens for each seat of each match that no bot has, for a spectator of all matches, and
// for an admin, except for those that are in the list known.
func drawTokens(specs []server.MatchSpec, known string) string {
	has := make(map[string]bool)
	for line := range strings.Lines(known) {
		if words := strings.Fields(line); len(words) == 5 {
			has[strings.Join(words[:4], " ")] = true
		}
	}
	var b strings.Builder
	line := func(words ...any) {
		if key := strings.TrimSpace(fmt.Sprintln(words...)); !has[key] {
			fmt.Fprintf(&b, "%-9v %-3v %-8v %-10v %s\n", append(words, DrawToken())...)
		}
	}
	for _, s := range specs {
		for p := range s.Settings.Players {
			if s.Bots != nil && s.Bots[p] != nil {
				continue
			}
			line("player", p, fmt.Sprintf("player-%d", p), s.Name)
		}
	}
	line("spectator", "-", "watcher", "-")
	line("admin", "-", "admin", "-")
	return b.String()
}

// DrawToken returns a new token.
func DrawToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// A tokenFile is the file of --tokens, and the tokens in it.
type tokenFile struct {
	path string
	*server.Tokens
}

// reload reads the file again, and disconnects clients whose tokens are gone.
func (f *tokenFile) reload(s *server.Server, log *slog.Logger) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	gone, err := f.Reload(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ended, err := s.Expel(ctx, func(g *host.Grant) bool {
		_, found := slices.BinarySearch(gone, g.Subject)
		return found
	}, "the token is no longer valid")
	log.Info("tokens", "path", f.path, "gone", len(gone), "seats", ended.Seats, "connections", ended.Connections)
	return err
}
