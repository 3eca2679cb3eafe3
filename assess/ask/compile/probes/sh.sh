# shellcheck shell=sh
# Has a shell read programs, of which it runs nothing. $0 is the shell.
n=0
for name; do
	said=$("$0" -n -- "$name" 2>&1 </dev/null) || {
		first=$(printf '%s\n' "$said" | head -n 1 | tr '\t' ' ' | cut -c 1-400)
		line=$(printf '%s\n' "$first" | sed -n 's/^.*[^0-9]\([0-9][0-9]*\): .*$/\1/p')
		printf '%s\t%s\tsyntax\t\t%s\n' "$n" "${line:-0}" "$first"
	}
	printf '%s\t0\tasked\t\t\n' "$n"
	n=$((n + 1))
done
