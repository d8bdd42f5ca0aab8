// Package cluster makes a [server.Server] one of several, so that matches outlive the machine that runs them. Their logs are in
// a replicated store, and a server that is lost leaves matches that another server continues.
//
//	member, err := cluster.Join(ctx, cluster.Options{Conn: conn, Name: "a", Address: "http://10.0.0.1:8766", Spec: spec})
//	s, err := server.New(server.Options{Dir: "matches", Replicator: member})
//	member.Serve(s)                  // from now on it takes matches over
//	http.ListenAndServe(addr, member.Handler(s))
//
// Three things say whose a match is, each for its own question:
//
//   - The lease of a server says whether it lives. A server renews it all the time.
//   - The directory says which server has a match, so that requests find it: a key for each match that is not over.
//   - The log says who can write it, see package ownership. Only this is a matter of correctness: the other two may be late
//     or wrong, and then cost time.
//
// A takeover: the server that the live ones agree on changes the directory, reads the log, appends its claim, and continues
// the match as after a crash. docs/cluster.md has what is promised when what fails.
package cluster
