// Package storage is the replicated storage of a cluster: NATS JetStream, embedded in this process or elsewhere.
//
//	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: "cluster"})
//	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "server-a"})
//	err = conn.Setup(ctx, storage.Layout{Replicas: 1})
//
// Its nodes come and go by [Conn.AddNode], [Conn.ReplaceNode], [Conn.RemoveNode] and [Conn.DrainNode], which wait until all streams are
// whole. [Conn.Status] says what they are, and [Status.Faults] what to do.
//
// What a cluster keeps there:
//
//	stream  samestep-log-N      logs of matches, a subject samestep.log.N.MATCH-ID for each; one of a few shared streams
//	stream  samestep-log-segments
//	                            long logs in few messages, and how far logs are; its metadata says over how many streams they are spread
//	bucket  samestep-servers    key-value: the lease of each server, with its address, its load and its builds
//	bucket  samestep-matches    key-value: the owner of each match that is not over
//	bucket  samestep-denied     key-value: bans of matches that are not over, and revocations
//	bucket  samestep-results    key-value: what the verification farm has found
//	stream  samestep-jobs       the farm's work queue
//	objects samestep-replays    sealed replays, for the archive and the farm
package storage
