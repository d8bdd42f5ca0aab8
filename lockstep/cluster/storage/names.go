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
