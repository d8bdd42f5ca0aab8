//go:build !js

package clustertool

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

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
		return printRole(c)
	}
	var users []storage.User
	if path := c.String("users"); path != "" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if users, err = storage.ReadUsers(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	} else {
		for _, r := range storage.Roles {
			users = append(users, storage.User{Role: r, Key: "NKEY_OF_A_" + strings.ToUpper(string(r))})
		}
	}
	_, err := fmt.Fprint(c.App.Writer, storage.Accounts(users))
	return err
}

// printRole prints the subjects of one role.
func printRole(c *cli.Context) error {
	roles, err := chosenRoles([]string{c.String("role")})
	if err != nil {
		return err
	}
	p, err := storage.PermissionsOf(roles[0])
	if err != nil {
		return err
	}
	for _, s := range p.Publish {
		fmt.Fprintln(c.App.Writer, "publish", s)
	}
	for _, s := range p.Subscribe {
		fmt.Fprintln(c.App.Writer, "subscribe", s)
	}
	return nil
}
