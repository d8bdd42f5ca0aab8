package storage

import (
	"fmt"
	"slices"
	"strings"
)

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
	var subjects []string
	for s := range who {
		subjects = append(subjects, s)
	}
	slices.Sort(subjects)
	b.WriteString("    exports: [\n")
	for _, s := range subjects {
		response := ""
		if strings.HasPrefix(s, nextMessage) || strings.HasPrefix(s, directGet+logStream) {
			response = ", response_type: stream"
		}
		fmt.Fprintf(b, "      { service: %q, accounts: [ %s ]%s }\n", s, strings.Join(who[s], ", "), response)
	}
	b.WriteString("    ]\n")
}
