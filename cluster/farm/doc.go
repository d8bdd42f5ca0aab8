// Package farm verifies the replays of a cluster's storage on any number of machines.
//
//	sent, err := farm.Submit(ctx, conn, "replays", farm.SubmitOptions{Build: "patch-7"})
//	err = farm.Work(ctx, conn, farm.WorkerOptions{Build: "patch-7", Game: game}) // on every machine
//	for r, err := range farm.Results(ctx, conn, "patch-7") { … }
//
// A job is a file and a build: a name for the rules that the workers have. It waits in a work queue until a worker
// acknowledges it. A worker takes a job, tells the queue every few seconds that it is at work, verifies the file, writes the
// result, and acknowledges the job. If it dies, the queue gives the job to another one.
//
//	stream  samestep-jobs      subject samestep.jobs.BUILD, one for each build; the message is a Job in JSON
//	bucket  samestep-results   key BUILD.FILE: a Result in JSON
//
// BUILD and FILE are in base64 for URLs. A result is created and never changed until [Forget] removes all of a build, so a job that was delivered twice has one
// result. A job that was delivered MaxDeliver times without one gets the class "poison", so a file that kills its workers
// does not stop the farm.
package farm
