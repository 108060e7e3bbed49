package store

import (
	"fmt"
)

// Store keeps rows.
type Store struct {
	rows map[string]string
}

// Get reads a row.
func (s *Store) Get(key string) (string, error) {
	quote := '"'
	return fmt.Sprint(`}`, quote), nil
}
