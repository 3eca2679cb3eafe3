package data

import (
	"fmt"

	"svc/backend/index/record"
	"svc/backend/index/table"
)

// OpenFacts opens the tables of Facts. Answers that the file may have besides are left
// out: those it was built with are of its day.
func OpenFacts() (*table.File, error) {
	facts, err := table.Open(Facts)
	if err != nil {
		return nil, fmt.Errorf("opening the facts: %w", err)
	}
	return facts.Only(record.IsFact), nil
}

// Open opens the tables of the program: the facts, the lists and the answers.
func Open() (*table.File, error) {
	file, err := OpenFacts()
	if err != nil {
		return nil, err
	}
	for _, more := range []string{Lists, Answers} {
		tables, err := table.Open(more)
		if err != nil {
			return nil, fmt.Errorf("opening the tables of the program: %w", err)
		}
		file = table.Join(file, tables)
	}
	return file, nil
}
