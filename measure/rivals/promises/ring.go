// A ring of goroutines, each of which takes a token from a channel and puts it into the next one. All of them run on
// one thread. Requests and answers are those of src/ring.rs.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	runtime.GOMAXPROCS(1)
	fmt.Printf("ring %s\nready\n", runtime.Version())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var name string
		var tasks int
		var hops uint64
		if _, err := fmt.Sscan(lines.Text(), &name, &tasks, &hops); err != nil {
			fmt.Println("failed: a request has the words ring TASKS HOPS")
			continue
		}
		began := time.Now()
		seen := ring(tasks, hops)
		fmt.Printf("%f %d\n", time.Since(began).Seconds(), seen)
	}
}

// ring passes a token round until it has made so many hops.
func ring(tasks int, hops uint64) uint64 {
	first := make(chan uint64, 2)
	first <- 0
	take := first
	for i := 1; i < tasks; i++ {
		next := make(chan uint64, 2)
		go func(take <-chan uint64, give chan<- uint64) {
			for n := range take {
				give <- n + 1
			}
			close(give)
		}(take, next)
		take = next
	}
	var last uint64
	for n := range take {
		last = n + 1
		if last >= hops {
			break
		}
		first <- last
	}
	close(first)
	// The end goes round too, as in the other rings.
	for range take {
	}
	return min(last, hops)
}
