package storage

// Fail makes the server of the node stop storing, as after a write that found no room.
func (n *Node) Fail() error { return n.now().ShutdownJetStream() }

// Failed reports whether the server of the node stores nothing.
func (n *Node) Failed() bool { return failure(n.now()) != "" }
