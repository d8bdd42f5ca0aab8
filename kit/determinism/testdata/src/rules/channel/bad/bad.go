//samestep:deterministic
package bad

func through(numbers []int32) (sum int32) {
	c := make(chan int32, len(numbers)) // want `channel: `
	for _, n := range numbers {
		c <- n // want `channel: `
	}
	close(c)           // want `channel: `
	sum = <-c          // want `channel: `
	for n := range c { // want `channel: `
		sum = sum*31 + n
	}
	return sum
}
