package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// runDev runs `cauri dev` until ctx ends or a part fails.
func runDev(ctx context.Context, o devOptions, console *devConsole) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	begun := time.Now()
	manifests, err := o.manifests(ctx)
	if err != nil {
		return err
	}
	// The files of a process that was killed.
	if err := errors.Join(removeFile(o.readyFile), removeFile(o.expectationsFile)); err != nil {
		return err
	}
	listener, err := o.listener()
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	roots, err := newDevRoots(o, listener)
	if err != nil {
		return err
	}
	defer roots.close()
	database, err := openDevDatabase(ctx, o, console.say)
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	defer func() { err = errors.Join(err, database.close(o.data != "")) }()
	d := &dev{options: o, console: console, baseURL: o.publicURL(listener), url: database.url, stopped: make(chan error, 3),
		judged: map[string]bool{}, roots: roots}
	if err := d.open(ctx); err != nil {
		return ignoreEnd(ctx, err)
	}
	defer d.state.close()
	running, stop := context.WithCancel(ctx)
	defer func() { err = errors.Join(err, d.end(stop)) }()
	if err := d.start(running, manifests); err != nil {
		return ignoreEnd(ctx, err)
	}
	d.serve(running, listener)
	showStatus := func() { console.status(d.currentResources(running, localURL(listener))) }
	restore := console.onKeys(running, map[byte]func(){
		's': showStatus, '\n': showStatus, 'o': func() { d.openConsole(running, localURL(listener)) },
	})
	defer restore()
	follow, notes := d.follow(running, localURL(listener))
	if err := d.announce(time.Since(begun), notes); err != nil {
		return err
	}
	defer func() { _ = removeFile(o.readyFile) }()
	go follow()
	if o.watch {
		go manifests.Watch(running, func() { d.applyAgain(running) })
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-d.stopped:
		d.running--
		return err
	case <-database.ended():
		return errors.New("the Postgres that was started has ended")
	}
}

// ignoreEnd returns nil if ctx ended, because then the user interrupted the start; otherwise err.
func ignoreEnd(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

func removeFile(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
