# fish completion for svc: put this into ~/.config/fish/completions as "svc.fish".
function __svc_words
    set -l typed (commandline -opc) (commandline -ct)
    for line in ($typed[1] completion words -- $typed[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline -ct)
            case :folders
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c svc -f -a '(__svc_words)'
