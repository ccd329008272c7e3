package worker

import (
	"sync"
	"time"
)

// goroutineIdle is how long a goroutine waits for the next function before it ends.
const goroutineIdle = 200 * time.Millisecond

// goroutines runs functions concurrently, and reuses goroutines. An attempt needs a deep stack. The stack of a new
// goroutine grows step by step, and each step copies it.
type goroutines struct {
	idle  chan func() // unbuffered, so that only an idle goroutine receives a function
	begun sync.WaitGroup
}

func newGoroutines() *goroutines { return &goroutines{idle: make(chan func())} }

// run calls f in another goroutine.
func (g *goroutines) run(f func()) {
	g.begun.Add(1)
	select {
	case g.idle <- f:
	default:
		go g.serve(f)
	}
}

func (g *goroutines) serve(f func()) {
	timer := time.NewTimer(goroutineIdle)
	defer timer.Stop()
	for {
		f()
		g.begun.Done()
		timer.Reset(goroutineIdle)
		select {
		case next, open := <-g.idle:
			if !open {
				return
			}
			f = next
		case <-timer.C:
			return
		}
	}
}

// close waits until all functions have returned. The caller calls run no more.
func (g *goroutines) close() {
	close(g.idle)
	g.begun.Wait()
}
