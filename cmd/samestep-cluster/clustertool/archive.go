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
	log, err := tool.NewLog(c)
	if err != nil { // replay index has no flags for it
		log = plainLog(c)
	}
	conn, err := dialWith(c, c.String("nats"), storage.DialOptions{Role: storage.ServerRole, Log: log})
	if err != nil {
		return nil, err
	}
	return &ownStore{objects.New(conn), conn}, nil
}

// An ownStore closes its connection with it.
type ownStore struct {
	*objects.Store
	conn *storage.Conn
}

// Close implements [io.Closer].
func (s *ownStore) Close() error {
	s.conn.Close()
	return nil
}
