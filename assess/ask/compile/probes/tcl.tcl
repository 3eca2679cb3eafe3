# Looks for the packages that programs of Tcl require, of which it runs nothing.
proc tell {args} { puts [join [lmap c $args {string range [regsub -all {[\t\r\n]+} $c " "] 0 400}] \t] }
catch {package require no-such-package 99}
set n 0
foreach name $argv {
	if {![catch {open $name} f]} {
		set text [read $f]
		close $f
		if {![info complete $text]} { tell $n 0 syntax "" "missing close-brace, close-bracket or quote" }
		set line 0
		foreach l [split $text \n] {
			incr line
			if {[regexp {^\s*package\s+require\s+(?:-exact\s+)?([A-Za-z][\w:-]*)} $l - package] && $package ni {Tcl Tk Expect}} {
				catch {package require $package 99}
				if {[package versions $package] eq "" && [package provide $package] eq ""} { tell $n $line module $package "can't find package $package" }
			}
		}
		tell $n 0 asked "" ""
	}
	incr n
}
