#compdef svc
# zsh completion for svc: put this into a folder of $fpath as "_svc", or source it after compinit.
_svc() {
	local line
	local -a told
	while IFS= read -r line; do
		case $line in
		:files) _files ;;
		:folders) _files -/ ;;
		*) told+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
		esac
	done < <("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	((${#told})) && _describe svc told
}
if [ "$funcstack[1]" = _svc ]; then _svc "$@"; else compdef _svc svc; fi
