//go:build !js && !wasip1

package farm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/farm"
)

// BenchmarkWorkers compares two workers with one, each a process with one processor. "cpu" verifies real replays, and needs
// a machine with nothing else to do. "wait" takes 20 ms for each file and next to no processor, so it shows what the
// queue and the storage cost, on a busy machine as well. "best" is the ratio of the fastest runs, which other work on the
// machine has disturbed least. "times-processor" says whether the work itself divides.
//
//	go test ./cluster/farm -run - -bench Workers -benchtime 5x
func BenchmarkWorkers(b *testing.B) {
	for _, row := range []struct {
		name  string
		files int
		ticks int
		slow  float64 // seconds
	}{{"cpu", 60, 120_000, 0}, {"wait", 200, 60, 0.02}} {
		b.Run(row.name, func(b *testing.B) {
			file := match(b, row.ticks)
			files := map[string][]byte{}
			for i := range row.files {
				files[fmt.Sprintf("m%05d.ssr", i)] = file
			}
			dir := folder(b, files)
			var took, cpu, best [3]time.Duration // by the number of workers
			for b.Loop() {
				for workers := 1; workers <= 2; workers++ {
					t, c := timeWorkers(b, dir, workers, len(files), row.slow)
					took[workers], cpu[workers] = took[workers]+t, cpu[workers]+c
					if best[workers] == 0 || t < best[workers] {
						best[workers] = t
					}
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[2]), "times-faster")
			b.ReportMetric(float64(best[1])/float64(best[2]), "times-faster-best")
			b.ReportMetric(float64(cpu[2])/float64(cpu[1]), "times-processor")
			b.ReportMetric(float64(took[1].Milliseconds())/float64(b.N*len(files)), "ms/file-one")
			b.ReportMetric(float64(took[2].Milliseconds())/float64(b.N*len(files)), "ms/file-two")
		})
	}
}

// timeWorkers returns how long some workers take for n files that the storage has, and their processor time.
func timeWorkers(b *testing.B, dir string, workers, n int, slow float64) (took, cpu time.Duration) {
	c := newCluster(b)
	defer c.node.Stop()
	if _, err := farm.Submit(b.Context(), c.conn, dir, farm.SubmitOptions{Build: "upload"}); err != nil {
		b.Fatal(err)
	}
	var list []*process
	for range workers {
		list = append(list, startProcess(b, "worker", urlEnv+"="+c.node.URL(), ackWaitEnv+"="+seconds(30), slowEnv+"="+seconds(slow)))
	}
	time.Sleep(300 * time.Millisecond) // they ask for jobs now
	from := time.Now()
	if _, err := farm.SubmitArchive(b.Context(), c.conn, farm.SubmitOptions{Build: build}); err != nil {
		b.Fatal(err)
	}
	for c.written() < n {
		time.Sleep(10 * time.Millisecond)
	}
	took = time.Since(from)
	for _, p := range list {
		p.kill()
		cpu += p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	}
	c.conn.Close()
	return took, cpu
}
