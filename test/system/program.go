package system

import "path/filepath"

// StartProgram starts a program other than cauri next to the system. Its DATABASE_URL names a database of the system's
// Postgres. It ends at the latest with the system.
func (s *System) StartProgram(name, program, database string, args ...string) (*Process, error) {
	p, err := start(command{
		name: name, program: program, args: args, env: append(s.environment(superuser), "DATABASE_URL="+s.Postgres.URL(database)), dir: s.folder,
		log: filepath.Join(s.folder, name+".log"), onOrphaned: Immediate,
	})
	if err == nil {
		s.processes = append(s.processes, p)
	}
	return p, err
}

// Port is an unused port of the loopback interface, always the same for a name.
func (s *System) Port(name string) (int, error) { return s.port(name) }
