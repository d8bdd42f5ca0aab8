package storage

// Names of what a cluster stores.
const (
	ServersBucket = "samestep-servers"
	MatchesBucket = "samestep-matches"
	DeniedBucket  = "samestep-denied"
	ResultsBucket = "samestep-results"
	JobsStream    = "samestep-jobs"
	JobsSubject   = "samestep.jobs"
	ReplaysBucket = "samestep-replays"

	logStream      = "samestep-log-"
	logSubject     = "samestep.log."
	segmentStream  = logStream + "segments"
	segmentSubject = logSubject + "segments"
)

// Subjects at which nodes answer operators, in the account of the streams. The requests that change the nodes of a cluster need
// the system account of NATS, whose only user is the node itself: it passes on these two and no other.
const (
	nodesSubject  = "samestep.storage.nodes"  // each node answers with a nodeAnswer
	drainSubject  = "samestep.storage.drain"  // one node passes the request on
	removeSubject = "samestep.storage.remove" // one node passes the request on
)
