package assess

// fact notes a setting of the machine that has no list of its own.
func (m *machine) fact(area, key, value string, at Evidence) {
	m.a.Facts = append(m.a.Facts, Fact{area, key, value, at})
}

// eachAssigned notes those of a file's variables that have a value.
func (m *machine) eachAssigned(area, file string, names ...string) {
	values := parseAssignments(m.peek(file))
	for _, name := range names {
		if values[name] != "" {
			m.fact(area, name, values[name], Evidence{"/" + file, 0})
		}
	}
}
