# bash completion for svc: source this, or put it into bash-completion's folder as "svc".
_svc() {
	local cur words cword
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n =: cur words cword
	else
		cur=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
	fi
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		line=${line%%$'\t'*}
		case $line in
		:files) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur") ;;
		:folders) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur") ;;
		*) COMPREPLY+=("$line") ;;
		esac
	done < <("${words[0]}" completion words -- "${words[@]:1:cword}" 2>/dev/null)
	if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$cur"; fi
}
complete -F _svc svc
