//go:build !js

package gameset

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server/assets"
)

// maxCached is how many bytes of assets the user's cache keeps.
const maxCached = 1 << 30

// AssetsFlag names the folder with the assets of matches.
var AssetsFlag = &cli.StringFlag{
	Name: "assets", Usage: "`FOLDER` with the assets of matches, such as maps, in files named by their SHA-256", DefaultText: "in the user's cache",
	EnvVars: []string{assetsEnv},
}

// assetsEnv sets the folder also of commands without the flag.
const assetsEnv = "SAMESTEP_ASSETS"

// AssetFolder returns the folder of --assets, or that in the user's cache.
func AssetFolder(c *cli.Context) assets.Folder {
	dir := c.String(AssetsFlag.Name)
	if dir == "" {
		dir = os.Getenv(assetsEnv)
	}
	if dir != "" {
		return assets.Folder{Dir: dir}
	}
	if dir = CacheDir(); dir == "" {
		return assets.Folder{} // such as of a service without a home
	}
	return assets.Folder{Dir: filepath.Join(dir, "assets"), MaxBytes: maxCached}
}

// CacheDir returns the folder for files that can be made again, or "".
func CacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "samestep")
}

// ReadFrom returns games that read assets from a folder, and those that it does not have from the program.
func (l List) ReadFrom(f assets.Folder) (all List) {
	for _, g := range l {
		if !g.HasAssets() {
			all = append(all, g)
			continue
		}
		all = append(all, g.reading(func(a lockstep.Asset) (b []byte, err error) {
			err = record.ErrNoAsset
			if f.Dir != "" {
				b, err = f.Read(a)
			}
			if errors.Is(err, record.ErrNoAsset) {
				if brought, failed := g.ReadAsset(a); failed == nil || !errors.Is(failed, record.ErrNoAsset) {
					return brought, failed
				}
			}
			return b, err
		}))
	}
	return all
}

// reading returns the game with another way to read assets.
func (g *Playable) reading(read func(lockstep.Asset) ([]byte, error)) *Playable {
	own := *g
	own.Game = g.WithAssets(read)
	own.Faulty = func(c *faultinjection.Change) *lockstep.Game { return g.Faulty(c).WithAssets(read) }
	return &own
}

// orBundle returns games that also read assets from the bundle of a file, if it is one.
func (l List) orBundle(f *replay.File) (all List) {
	b := f.Bundle()
	if b == nil {
		return l
	}
	var one sync.Mutex
	kept := make(map[string][]byte) // each simulation reads the assets again, and a bundle is unpacked once
	inBundle := func(a lockstep.Asset) []byte {
		one.Lock()
		defer one.Unlock()
		if kept[a.SHA256] == nil {
			if content, err := b.Content(a.SHA256, int64(a.Size)); err == nil {
				kept[a.SHA256] = content
			}
		}
		return kept[a.SHA256]
	}
	for _, g := range l {
		if !g.HasAssets() {
			all = append(all, g)
			continue
		}
		all = append(all, g.reading(func(a lockstep.Asset) ([]byte, error) {
			b, err := g.ReadAsset(a)
			if errors.Is(err, record.ErrNoAsset) {
				if content := inBundle(a); content != nil {
					return content, nil
				}
			}
			return b, err
		}))
	}
	return all
}

// A JoinCache is the cache of a session: the assets of its game, and a folder for the others.
type JoinCache struct {
	*lockstep.Game
	Folder assets.Folder
}

// Read implements [client.AssetCache].
func (j JoinCache) Read(a lockstep.Asset) ([]byte, error) { return j.ReadAsset(a) }

// Write implements [client.AssetCache].
func (j JoinCache) Write(a lockstep.Asset, content []byte) error {
	if j.Folder.Dir == "" {
		return nil // it stays in memory
	}
	return j.Folder.Write(a, content)
}

// AssetsCommand returns the verb assets.
func AssetsCommand() *cli.Command {
	return &cli.Command{
		Name:  "assets",
		Usage: "work with the assets of matches, such as maps",
		Subcommands: []*cli.Command{{
			Name:      "add",
			Usage:     "add files to the folder of assets, and print how a configuration lists them",
			ArgsUsage: "FILE...",
			Description: `Copies each file into the folder, under its SHA-256, and prints a line of JSON for the
configuration of a match. serve sends the asset to the players of the match.`,
			Flags:  []cli.Flag{AssetsFlag},
			Action: addAssets,
		}},
	}
}

// A listedAsset is an asset with the keys that it has in a configuration.
type listedAsset struct {
	Name   string
	SHA256 string
	Size   uint32
}

func addAssets(c *cli.Context) error {
	folder := AssetFolder(c)
	if folder.Dir == "" {
		return console.Usagef("this user has no cache folder; give --assets")
	}
	for _, name := range c.Args().Slice() {
		content, err := readAtMost(name, record.MaxAssetBytes)
		if err != nil {
			return err
		}
		a, err := folder.Add(filepath.Base(name), content)
		if err == nil {
			err = json.NewEncoder(c.App.Writer).Encode(listedAsset(a))
		}
		if err != nil {
			return &console.FileError{Name: name, Err: err}
		}
	}
	return nil
}
