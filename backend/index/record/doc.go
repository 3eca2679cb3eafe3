// Package record has what the tables of an index are called and what their records
// say: all that building an index and answering from it share.
package record
