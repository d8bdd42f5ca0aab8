package storage_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

func TestReadUsers(t *testing.T) {
	u, seed, err := storage.NewUser(storage.WorkerRole)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, text, want string }{
		{"one", "# farm\n\n  " + u.String() + "\n", ""},
		{"nothing", "# nobody\n", "it is empty"},
		{"a role that there is not", "admin " + u.Key, `line 1: got the role "admin"`},
		{"a seed", "worker " + string(seed), "line 1: got a seed, which is secret"},
		{"no key", "worker", "line 1: got 1 words"},
		{"another kind of key", "worker A" + u.Key[1:], "want the public nkey of a user"},
		{"a cut key", "worker " + u.Key[:40], "want the public nkey of a user"},
		{"twice", u.String() + "\nserver " + u.Key, "line 2: duplicate key"},
		{"a long line", "worker " + strings.Repeat("U", 2000), "token too long"},
	} {
		users, err := storage.ReadUsers(strings.NewReader(row.text))
		switch {
		case row.want == "" && (err != nil || len(users) != 1 || users[0] != u):
			t.Errorf("%s: got %v, %v", row.name, users, err)
		case row.want != "" && (!errors.Is(err, storage.ErrUsers) || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		case err != nil && strings.Contains(err.Error(), string(seed)):
			t.Errorf("%s: the error tells the seed", row.name)
		}
	}
	if _, _, err := storage.NewUser("admin"); err == nil {
		t.Error("a key for a role that there is not")
	}
}
