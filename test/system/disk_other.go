//go:build !linux

package system

// mountMemory is Linux's.
func mountMemory(string, int64) error { return ErrNoSmallDisk }

func unmountMemory(string) error { return nil }

// FillDisk is for Linux.
func (p *Postgres) FillDisk() (free func() error, err error) { return nil, ErrNoSmallDisk }
