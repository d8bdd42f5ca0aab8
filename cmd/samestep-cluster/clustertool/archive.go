//go:build !js

package clustertool

import (
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/server/archive"
)

// storageArchive is the place of an archive in the cluster's storage, for the archive of serve.
const storageArchive = "nats:"

// openStore opens an archive in the cluster's storage.
func openStore(c *cli.Context, place string) (archive.Store, error) {
	if place != storageArchive {
		return nil, nil
	}
	if c.String("nats") == "" { // only serve has no default
		return nil, tool.Usagef("archive %s needs --nats, the storage with the archive", storageArchive)
	}
	log, err := tool.NewLog(c)
	if err != nil { // replay index has no flags for it
		log = plainLog(c)
	}
	role := storage.OperatorRole // a server's key serves for it, too
	if c.Command.Name == "serve" {
		role = storage.ServerRole
	}
	conn, err := dialWith(c, c.String("nats"), storage.DialOptions{Role: role, Log: log})
	if err != nil {
		return nil, err
	}
	return &ownStore{objects.New(conn), conn}, nil
}

// An ownStore is a store with a connection of its own.
type ownStore struct {
	*objects.Store
	conn *storage.Conn
}

// Close closes the connection.
func (s *ownStore) Close() { s.conn.Close() }
