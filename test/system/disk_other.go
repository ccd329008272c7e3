//go:build !linux

package system

// mountMemory is only available on Linux.
func mountMemory(string, int64) error { return ErrNoSmallDisk }

func unmountMemory(string) error { return nil }

// FillDisk is only available on Linux.
func (p *Postgres) FillDisk() (free func() error, err error) { return nil, ErrNoSmallDisk }
