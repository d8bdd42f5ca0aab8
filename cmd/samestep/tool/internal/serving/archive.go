//go:build !js

package serving

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// openStore opens the store of archive, and says where its index is: in the folder itself, or in dir.
func openStore(c *cli.Context) (store archive.Store, index string, err error) {
	place, dir := cmp.Or(c.String("archive"), c.Args().First()), c.String("dir") // of a verb that has no flag, the argument
	if x, _ := c.App.Metadata[ExtensionKey].(Extension); x.OpenStore != nil {
		if store, err = x.OpenStore(c, place); store != nil || err != nil {
			return store, filepath.Join(dir, "archive.db"), err
		}
	}
	if !strings.HasPrefix(place, "s3:") {
		store, err = archive.OpenFolder(place)
		return store, filepath.Join(place, "index.db"), err
	}
	store, err = openS3(place)
	return store, filepath.Join(dir, "archive.db"), err
}

func openS3(place string) (parts.Store, error) {
	if parts.S3 == nil {
		return nil, parts.Missing(place, "s3")
	}
	return parts.S3(place)
}

// addArchive adds sign-key and archive to a server's options. It returns nil without an archive.
func addArchive(c *cli.Context, o *server.Options) (*archive.Archive, error) {
	key, err := archiveKey(c)
	if err != nil {
		return nil, err
	}
	o.SignKey = key
	if c.String("archive") == "" {
		return nil, nil
	}
	store, index, err := openStore(c)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	own := archive.Options{Store: store, Index: index, Log: o.Log, Keep: keep(c)}
	if !c.Bool("keep-open") {
		own.Seal = func(ctx context.Context, path string) error { return server.SealFile(ctx, path, key) }
	}
	if _, ok := store.(*archive.Folder); ok {
		own.Follow = -1 // who uses the folder also uses the index in it
	}
	if key != nil {
		own.Signer = hex.EncodeToString(key.Public().(ed25519.PublicKey))
	}
	a, err := archive.New(own)
	if err != nil {
		return nil, err
	}
	o.Archive, o.Metrics = a, append(o.Metrics, a.Collector())
	return a, nil
}

// archiveKey checks the flags of the archive, and returns the key of sign-key, or nil.
func archiveKey(c *cli.Context) (key ed25519.PrivateKey, err error) {
	if path := c.String("sign-key"); path != "" {
		if c.Bool("keep-open") {
			return nil, console.Wrongf(c, "sign-key", "cannot be used with keep-open: only sealed replays are signed")
		}
		if key, err = replays.ReadKey[ed25519.PrivateKey](path, "PRIVATE KEY", x509.ParsePKCS8PrivateKey); err != nil {
			return nil, err
		}
	}
	kept := slices.IndexFunc(keepFlags, c.IsSet)
	switch place, dir := c.String("archive"), c.String("dir"); {
	case place == "" && kept >= 0:
		return nil, console.Wrongf(c, keepFlags[kept], "needs archive")
	case place == "":
	case dir == "":
		return nil, console.Wrongf(c, "archive", "needs --dir, where replays are written first")
	case filepath.Clean(place) == filepath.Clean(dir):
		return nil, console.Wrongf(c, "archive", "got the folder of --dir, want another one")
	}
	return key, nil
}

// keepFlags are the flags that say what stays in the archive.
var keepFlags = []string{"keep-days", "keep-replays", "keep-bytes", "keep-bundles", "keep-bundles-bytes"}

// keep returns what stays in the archive. Without a limit of their own, bundles and pages may take as many bytes as the replays.
func keep(c *cli.Context) archive.Keep {
	number := func(name string) int { return int(min(c.Uint(name), 1<<31-1)) }
	bytes := func(name string) int64 { return int64(min(c.Uint64(name), 1<<62)) }
	k := archive.Keep{
		Age: time.Duration(min(c.Uint("keep-days"), 36500)) * 24 * time.Hour, Replays: number("keep-replays"), Bytes: bytes("keep-bytes"),
		Bundles: number("keep-bundles"), BundleBytes: bytes("keep-bundles-bytes"),
	}
	if !c.IsSet("keep-bundles-bytes") {
		k.BundleBytes = k.Bytes
	}
	return k
}

// ReplayIndexCommand returns the verb replay index.
func ReplayIndexCommand() *cli.Command {
	return &cli.Command{
		Name:      "index",
		Usage:     "rebuild the index of a server's archive",
		ArgsUsage: "PLACE",
		Description: `Reads a server's archive, a folder or s3://BUCKET/PREFIX, and corrects its index. A server
does this itself when the index is missing. Use it after files in the folder were added,
removed or replaced by hand, also while the server runs.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Value: "matches", Usage: "the server's `FOLDER`, with the index of an archive that is not a folder"},
			console.JSONFlag,
		},
		Action: replayIndex,
	}
}

func replayIndex(c *cli.Context) error {
	place := c.Args().First()
	if _, err := os.Stat(place); err != nil && !strings.Contains(place, ":") {
		return err
	}
	store, index, err := openStore(c)
	if err != nil {
		return err
	}
	if closer, ok := store.(interface{ Close() }); ok {
		defer closer.Close()
	}
	log := slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelWarn}))
	n, err := archive.Index(c.Context, store, index, log)
	if err != nil {
		return err
	}
	return gameset.Tell(c, struct {
		Files int `json:"files"`
	}{n}, func(w io.Writer) { fmt.Fprintf(w, "%s in %s\n", console.Count(n, "file"), index) }, nil)
}
