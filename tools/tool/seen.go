package tool

import (
	"path/filepath"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/api/redact"
	"svc/tools/machine"
	"svc/tools/register"
)

// Saw notes a machine in this user's register: the service knows it by a digest
// alone, and "which machines have a seat" is asked by name. A register that can't be
// written stops nothing.
func (e *Env) Saw(a *assess.Assessment, m machine.Machine) {
	e.note(register.Machine{Fingerprint: a.Fingerprint, Name: a.System.Hostname, Place: absolute(m).Place(), Release: a.Release, People: people(a)})
}

// maxPeople bounds how many accounts of a machine the register keeps.
const maxPeople = 300

// people are the accounts of a machine that no package made.
func people(a *assess.Assessment) string {
	names := []string{}
	for _, u := range a.Users {
		if !u.System && len(names) < maxPeople {
			names = append(names, u.Name)
		}
	}
	return strings.Join(names, " ")
}

// vocabulary is what this user's machines and the people on them are called: what
// is filed must not have it, whatever the words look like.
func (e *Env) vocabulary() redact.Vocabulary {
	v := redact.Vocabulary{Hosts: slices.Clone(e.Hosts)}
	known, err := e.Register.Known()
	if err != nil {
		e.Log.Warn("looking for the machines' names", "error", err)
	}
	for _, m := range known {
		short, _, _ := strings.Cut(m.Name, ".")
		v.Hosts = append(v.Hosts, m.Name, short)
		v.Users = append(v.Users, strings.Fields(m.People)...)
	}
	return v
}

// Moved notes where the move of a machine was written.
func (e *Env) Moved(fingerprint, target, out string) {
	e.note(register.Machine{Fingerprint: fingerprint, Target: target, Out: out})
}

func (e *Env) note(m register.Machine) {
	m.Seen = e.Now().UTC().Format("2006-01-02")
	if err := e.Register.Note(m); err != nil {
		e.Log.Info("noting the machine's name", "error", err)
	}
}

// Strip takes out of a text what names machines, networks and people.
func (e *Env) Strip(text string) string {
	stripped, _ := e.vocabulary().Text(text)
	return stripped
}

// absolute is a machine whose place means the same wherever svc is called.
func absolute(m machine.Machine) machine.Machine {
	for _, place := range []*string{&m.Root, &m.Image} {
		if full, err := filepath.Abs(*place); *place != "" && err == nil {
			*place = full
		}
	}
	return m
}

// Named are the machines of the register, by what the service calls them.
func (e *Env) Named() map[string]register.Machine {
	known, err := e.Register.Known()
	if err != nil {
		e.Log.Warn("looking for the machines' names", "error", err)
	}
	byVM := map[string]register.Machine{}
	for fingerprint, m := range known {
		byVM[api.VMKey(fingerprint)] = m
	}
	return byVM
}
