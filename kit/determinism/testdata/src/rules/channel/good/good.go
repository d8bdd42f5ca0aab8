//samestep:deterministic
package good

func through(numbers []int32) (sum int32) {
	queue := append([]int32{}, numbers...)
	for len(queue) > 0 {
		sum = sum*31 + queue[0]
		queue = queue[1:]
	}
	return sum
}
