//go:build !js

package clustertool

import (
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/lockstep/archive"
	"github.com/seed-49bee653/samestep/lockstep/cluster/objects"
	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// storageArchive is the place of an archive in the cluster's storage, for serve --archive.
const storageArchive = "nats:"

// openStore opens an archive in the cluster's storage.
func openStore(c *cli.Context, place string) (archive.Store, error) {
	if place != storageArchive {
		return nil, nil
	}
	if c.String("nats") == "" {
		return nil, tool.Usagef("--archive %s needs --nats, the storage with the archive", storageArchive)
	}
	conn, err := dial(c, c.String("nats"), storage.ServerRole) // until the program ends
	if err != nil {
		return nil, err
	}
	return objects.New(conn), nil
}
