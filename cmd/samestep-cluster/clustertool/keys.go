//go:build !js

package clustertool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/files"
)

const usersFile = "users.txt"

func keysCommand() *cli.Command {
	return &cli.Command{
		Name:  "keys",
		Usage: "make the keys with which programs connect to the storage",
		Subcommands: []*cli.Command{{
			Name:  "new",
			Usage: "make a key for each role of a cluster",
			Description: `Writes a file ROLE.nk for each role into the folder: a seed, which is secret. Bring it to
the machines of that role, for --nats-nkey. The file users.txt has the public keys, for
--node-users of every node, or for the verb permissions. Lists of several folders may be
joined. All files have mode 0600, and nothing is overwritten.`,
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "dir", Usage: "`FOLDER` for the files"},
				&cli.StringSliceFlag{Name: "role", Usage: "only for `ROLE`: " + roleNames() + "; repeat the flag for each"},
			},
			Action: newKeys,
		}},
	}
}

func roleNames() string {
	var names []string
	for _, r := range storage.Roles {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// chosenRoles returns the roles of a flag, or all.
func chosenRoles(names []string) (roles []storage.Role, err error) {
	for _, name := range names {
		if !slices.Contains(storage.Roles, storage.Role(name)) {
			return nil, tool.Usagef("--role: got %q, want one of %s", name, roleNames())
		}
		if !slices.Contains(roles, storage.Role(name)) {
			roles = append(roles, storage.Role(name))
		}
	}
	if len(roles) == 0 {
		return storage.Roles, nil
	}
	return roles, nil
}

func newKeys(c *cli.Context) error {
	roles, err := chosenRoles(c.StringSlice("role"))
	if err != nil {
		return err
	}
	dir := c.String("dir")
	if dir == "" {
		return tool.Usagef("want --dir FOLDER")
	}
	names := []string{usersFile}
	for _, r := range roles {
		names = append(names, string(r)+".nk")
	}
	for _, name := range names { // before anything is written
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: want a folder without keys, got one with %s", dir, name)
		}
	}
	if err := files.PrivateFolder(dir); err != nil {
		return err
	}
	var list strings.Builder
	for _, r := range roles {
		u, seed, err := storage.NewUser(r)
		if err != nil {
			return err
		}
		if err := create(filepath.Join(dir, string(r)+".nk"), append(seed, '\n')); err != nil {
			return err
		}
		fmt.Fprintln(&list, u)
	}
	if err := create(filepath.Join(dir, usersFile), []byte(list.String())); err != nil {
		return err
	}
	for _, name := range names {
		fmt.Fprintln(c.App.Writer, filepath.Join(dir, name))
	}
	return nil
}

func create(path string, content []byte) error {
	return files.Create(path, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

func permissionsCommand() *cli.Command {
	return &cli.Command{
		Name:  "permissions",
		Usage: "print what each role may do in the storage, for an existing NATS",
		Description: `Prints a block "accounts" for the configuration of a NATS server with JetStream. An
embedded node with --node-users has the same. Without --users it has a word such as
NKEY_OF_A_SERVER in place of each public key. With --role it prints the subjects of one
role, one a line, after "publish" or "subscribe".`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "users", Usage: "the public keys are in `FILE`, see the verb keys"},
			&cli.StringFlag{Name: "role", Usage: "of `ROLE` only: " + roleNames()},
		},
		Action: permissions,
	}
}

func permissions(c *cli.Context) error {
	if c.IsSet("role") {
		if c.IsSet("users") {
			return tool.Usagef("--role and --users: want at most one of them")
		}
		roles, err := chosenRoles([]string{c.String("role")})
		if err != nil {
			return err
		}
		p, err := storage.PermissionsOf(roles[0])
		for _, s := range p.Publish {
			fmt.Fprintln(c.App.Writer, "publish", s)
		}
		for _, s := range p.Subscribe {
			fmt.Fprintln(c.App.Writer, "subscribe", s)
		}
		return err
	}
	var users []storage.User
	for _, r := range storage.Roles {
		users = append(users, storage.User{Role: r, Key: "NKEY_OF_A_" + strings.ToUpper(string(r))})
	}
	if path := c.String("users"); path != "" {
		var err error
		if users, err = readUsers(path); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(c.App.Writer, storage.Accounts(users))
	return err
}

func readUsers(path string) ([]storage.User, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	users, err := storage.ReadUsers(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return users, err
}
