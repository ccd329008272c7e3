package system

import "path/filepath"

// StartProgram starts another program than cauri beside the system, with a database of the system's Postgres in its DATABASE_URL. It ends
// with
// the system at the latest.
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

// Port is a port of the loopback interface that nobody listens on, the same each time for a name.
func (s *System) Port(name string) (int, error) { return s.port(name) }
