package server

// A File is what a replay is written to.
type File = file

// SetNewFile makes replays be written to what f returns.
func (s *Server) SetNewFile(f func(path string) (File, error)) { s.newFile = f }
