package storage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nkeys"
)

// A Role is what a program does in a cluster. It decides what the program may do in the storage.
type Role string

// The roles of a cluster.
const (
	ServerRole   Role = "server"   // runs matches: writes logs, leases, the directory and the archive
	OperatorRole Role = "operator" // submits replays to the farm, and looks at everything
	MirrorRole   Role = "mirror"   // reads logs and the directory
	WorkerRole   Role = "worker"   // takes jobs, reads replays, and writes results
)

// Roles are all roles, those that may do most first.
var Roles = []Role{ServerRole, OperatorRole, MirrorRole, WorkerRole}

// isolated reports whether the role has an account of its own, from which only the listed subjects lead to the storage.
//
// Permissions alone stop nobody who may send a request: JetStream sends its answer to any subject that the request names,
// and a consumer delivers to any subject that its maker names. Either can be the subject of a log. Answers to another account
// stay in that account, so a role in one that makes no consumers writes only to what it may publish.
func (r Role) isolated() bool { return r == MirrorRole || r == WorkerRole }

// MaxStreams is the largest number of streams that logs are spread over. Permissions name each.
const MaxStreams = 16

// Permissions are the subjects of NATS that a role may use.
type Permissions struct {
	Publish   []string
	Subscribe []string
}

// A grant is what roles need for one purpose. In a subject {log} is each stream of logs or of their segments, and {all} is each stream.
type grant struct {
	roles   []Role
	publish []string
}

// The streams behind the buckets.
const (
	serversStream = "KV_" + ServersBucket
	matchesStream = "KV_" + MatchesBucket
	deniedStream  = "KV_" + DeniedBucket
	resultsStream = "KV_" + ResultsBucket
	replaysStream = "OBJ_" + ReplaysBucket
)

// grants is the table of who may do what. Everything else is refused.
var grants = []grant{
	// Setup, and what exists.
	{[]Role{ServerRole, OperatorRole}, []string{"$JS.API.STREAM.CREATE.{all}"}},
	{Roles, []string{accountInfo}},
	{[]Role{ServerRole, OperatorRole}, []string{"$JS.API.STREAM.INFO.{all}"}},
	// Nodes: look, and change.
	{[]Role{ServerRole, OperatorRole}, []string{nodesSubject}},
	{[]Role{OperatorRole}, []string{drainSubject, removeSubject, evacuatePeer + "{all}"}},
	// Logs: append, remove, and read.
	{[]Role{ServerRole}, []string{logSubject + ">", "$JS.API.STREAM.PURGE.{log}"}},
	{[]Role{ServerRole}, []string{stepDown + "{log}"}},
	{[]Role{ServerRole, OperatorRole}, []string{"$JS.API.STREAM.MSG.GET.{log}"}},
	{[]Role{ServerRole, OperatorRole, MirrorRole}, []string{directGet + "{log}"}},
	{[]Role{MirrorRole}, []string{"$JS.API.STREAM.INFO.{log}", "$JS.API.STREAM.INFO." + matchesStream}},
	// Leases and the directory: write, look up, and watch.
	{[]Role{ServerRole}, []string{"$KV." + ServersBucket + ".>", "$KV." + MatchesBucket + ".>"}},
	{[]Role{ServerRole, OperatorRole, MirrorRole}, lookups(matchesStream)},
	{[]Role{ServerRole, OperatorRole}, lookups(serversStream)},
	{[]Role{ServerRole, OperatorRole}, slices.Concat(consumers(serversStream), consumers(matchesStream))},
	// Bans and revocations: write, look up, and watch.
	{[]Role{ServerRole}, slices.Concat([]string{"$KV." + DeniedBucket + ".>"}, lookups(deniedStream), consumers(deniedStream))},
	// Replays: write, remove, read, and list.
	{[]Role{ServerRole, OperatorRole}, []string{"$O." + ReplaysBucket + ".>", "$JS.API.STREAM.PURGE." + replaysStream}},
	{[]Role{ServerRole, OperatorRole}, consumers(replaysStream)},
	{[]Role{ServerRole, OperatorRole, WorkerRole}, lookups(replaysStream)},
	{[]Role{WorkerRole}, []string{"$JS.API.STREAM.INFO." + replaysStream}},
	// Jobs: submit, and take.
	{[]Role{OperatorRole}, slices.Concat([]string{JobsSubject + ".>"}, consumers(JobsStream))},
	{[]Role{WorkerRole}, []string{
		"$JS.API.STREAM.INFO." + JobsStream, "$JS.API.CONSUMER.INFO." + JobsStream + ".*", nextMessage + JobsStream + ".*",
		"$JS.ACK." + JobsStream + ".>", "$JS.ACK.*.*." + JobsStream + ".>", // the second form is that of later servers
	}},
	// Results: write, look up, and watch.
	{[]Role{WorkerRole}, []string{"$KV." + ResultsBucket + ".>", "$JS.API.STREAM.INFO." + resultsStream}},
	{[]Role{OperatorRole, WorkerRole}, lookups(resultsStream)},
	{[]Role{OperatorRole}, consumers(resultsStream)},
	// Jobs and results: forget.
	{[]Role{OperatorRole}, []string{"$JS.API.STREAM.PURGE." + JobsStream, "$JS.API.STREAM.PURGE." + resultsStream}},
}

// Beginnings of the requests that have several answers: for messages of a consumer, and of a stream.
const (
	nextMessage = "$JS.API.CONSUMER.MSG.NEXT."
	directGet   = "$JS.API.DIRECT.GET."
)

// stepDown begins the request to change the leader of a stream.
const stepDown = "$JS.API.STREAM.LEADER.STEPDOWN."

// evacuatePeer begins the request to move a stream off a node.
const evacuatePeer = "$JS.API.STREAM.PEER.EVACUATE."

// accountInfo is the request for how much the storage holds. An account that imports it gets no other request of JetStream from
// the server by default.
const accountInfo = "$JS.API.INFO"

// consumers are the subjects with which a stream is read in order, as a whole or filtered.
func consumers(stream string) []string {
	return []string{
		"$JS.API.CONSUMER.CREATE." + stream + ".>", "$JS.API.CONSUMER.CREATE." + stream, "$JS.API.CONSUMER.INFO." + stream + ".*",
		"$JS.API.CONSUMER.DELETE." + stream + ".*", "$JS.FC." + stream + ".>", "$JS.FC.*.*." + stream + ".>",
	}
}

// lookups are the subjects with which single messages of the stream of a bucket are read.
func lookups(stream string) []string {
	return []string{directGet + stream, directGet + stream + ".>"}
}

// expand replaces the names of streams in a subject.
func expand(subject string) (all []string) {
	logs := make([]string, MaxStreams)
	for i := range logs {
		logs[i] = logStream + strconv.Itoa(i)
	}
	logs = append(logs, segmentStream)
	names := []string{""}
	switch {
	case strings.Contains(subject, "{log}"):
		names = logs
	case strings.Contains(subject, "{all}"):
		names = append(logs, serversStream, matchesStream, deniedStream, resultsStream, JobsStream, replaysStream)
	}
	for _, name := range names {
		all = append(all, strings.NewReplacer("{log}", name, "{all}", name).Replace(subject))
	}
	return all
}

// PermissionsOf returns what a role may do. No other subject of the storage is needed.
func PermissionsOf(r Role) (Permissions, error) {
	if !slices.Contains(Roles, r) {
		return Permissions{}, fmt.Errorf("storage: got the role %q, want one of %q", r, Roles)
	}
	p := Permissions{Subscribe: []string{inbox(r) + ".>"}}
	if r == ServerRole {
		p.Subscribe = append(p.Subscribe, inbox(OperatorRole)+".>") // so a server's key serves for looking, too
	}
	for _, g := range grants {
		if slices.Contains(g.roles, r) {
			for _, s := range g.publish {
				p.Publish = append(p.Publish, expand(s)...)
			}
		}
	}
	slices.Sort(p.Publish)
	p.Publish = slices.Compact(p.Publish)
	return p, nil
}

// inbox is the prefix of the subjects at which a role gets answers. Servers and operators share an account, in which an
// operator must not get the answers to a server.
func inbox(r Role) string {
	if r == OperatorRole {
		return "_INBOX_operator"
	}
	return "_INBOX"
}

// A User is who may connect to a storage node, and as what. The node knows only the public key.
type User struct {
	Role Role
	Key  string // public nkey: U and 55 letters and digits
}

// ErrUsers is wrapped by the errors of [ReadUsers].
var ErrUsers = errors.New("storage: malformed list of users")

// maxUsers is the largest number of users of a list, and maxUserLine that of bytes of a line.
const (
	maxUsers    = 10_000
	maxUserLine = 1024
)

// NewUser draws a key for a user of a role. The seed is the secret with which the user connects, see [DialOptions].
func NewUser(r Role) (u User, seed []byte, err error) {
	if !slices.Contains(Roles, r) {
		return User{}, nil, fmt.Errorf("storage: got the role %q, want one of %q", r, Roles)
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return User{}, nil, fmt.Errorf("storage: %w", err)
	}
	if u.Key, err = pair.PublicKey(); err != nil {
		return User{}, nil, fmt.Errorf("storage: %w", err)
	}
	u.Role = r
	seed, err = pair.Seed()
	return u, seed, err
}

// String returns the user as a line of a list.
func (u User) String() string { return string(u.Role) + " " + u.Key }

// ReadUsers reads a list of users: a role and a public key on each line. Empty lines, and those that begin with #, count
// for nothing. No key may be there twice.
func ReadUsers(r io.Reader) (users []User, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxUserLine)
	seen := make(map[string]bool)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		switch {
		case len(fields) != 2:
			return nil, fmt.Errorf("%w: line %d: got %d words, want a role and a public key", ErrUsers, n, len(fields))
		case !slices.Contains(Roles, Role(fields[0])):
			return nil, fmt.Errorf("%w: line %d: got the role %q, want one of %q", ErrUsers, n, fields[0], Roles)
		case strings.HasPrefix(fields[1], "S"):
			return nil, fmt.Errorf("%w: line %d: got a seed, which is secret; want a public key", ErrUsers, n)
		case !nkeys.IsValidPublicUserKey(fields[1]):
			return nil, fmt.Errorf("%w: line %d: got %q, want the public nkey of a user", ErrUsers, n, fields[1])
		case seen[fields[1]]:
			return nil, fmt.Errorf("%w: line %d: duplicate key", ErrUsers, n)
		case len(users) == maxUsers:
			return nil, fmt.Errorf("%w: more than %d users", ErrUsers, maxUsers)
		}
		seen[fields[1]] = true
		users = append(users, User{Role(fields[0]), fields[1]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsers, err)
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrUsers)
	}
	return users, nil
}

// mainAccount is the account of NATS that has the streams.
const mainAccount = "SAMESTEP"

// account returns the account of a role.
func account(r Role) string {
	if r.isolated() {
		return mainAccount + "_" + strings.ToUpper(string(r))
	}
	return mainAccount
}

// Accounts returns the configuration of a NATS server that lets users do what their roles may do, and nothing else. It is a
// block "accounts", which an existing server can have beside its own accounts.
//
// Servers and operators are in the account of the streams. Each other role has an account which imports the few requests that
// it may send.
func Accounts(users []User) string {
	var b strings.Builder
	b.WriteString("accounts {\n")
	fmt.Fprintf(&b, "  %s {\n    jetstream: enabled\n", mainAccount)
	writeUsers(&b, users, ServerRole, OperatorRole)
	writeExports(&b)
	b.WriteString("  }\n")
	for _, r := range Roles {
		if !r.isolated() {
			continue
		}
		fmt.Fprintf(&b, "  %s {\n", account(r))
		writeUsers(&b, users, r)
		b.WriteString("    imports: [\n")
		for _, s := range permissionsOf(r).Publish {
			fmt.Fprintf(&b, "      { service: { account: %s, subject: %q } }\n", mainAccount, s)
		}
		b.WriteString("    ]\n  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// permissionsOf is PermissionsOf for a role that there is.
func permissionsOf(r Role) Permissions {
	p, err := PermissionsOf(r)
	if err != nil {
		panic(err) // the callers have checked the role
	}
	return p
}

// writeUsers writes the users of some roles with their permissions.
func writeUsers(b *strings.Builder, users []User, roles ...Role) {
	b.WriteString("    users: [\n")
	for _, u := range users {
		if !slices.Contains(roles, u.Role) {
			continue
		}
		p := permissionsOf(u.Role)
		fmt.Fprintf(b, "      { nkey: %s # %s\n        permissions: {\n          publish: { allow: [\n", u.Key, u.Role)
		for _, s := range p.Publish {
			fmt.Fprintf(b, "            %q\n", s)
		}
		b.WriteString("          ] }\n          subscribe: { allow: [\n")
		for _, s := range p.Subscribe {
			fmt.Fprintf(b, "            %q\n", s)
		}
		b.WriteString("          ] }\n        }\n      }\n")
	}
	b.WriteString("    ]\n")
}

// writeExports writes what the accounts of other roles may import.
func writeExports(b *strings.Builder) {
	who := make(map[string][]string)
	for _, r := range Roles {
		if r.isolated() {
			for _, s := range permissionsOf(r).Publish {
				who[s] = append(who[s], account(r))
			}
		}
	}
	b.WriteString("    exports: [\n")
	for _, s := range slices.Sorted(maps.Keys(who)) {
		response := ""
		if strings.HasPrefix(s, nextMessage) || strings.HasPrefix(s, directGet+logStream) {
			response = ", response_type: stream"
		}
		fmt.Fprintf(b, "      { service: %q, accounts: [ %s ]%s }\n", s, strings.Join(who[s], ", "), response)
	}
	b.WriteString("    ]\n")
}
