# fish completion for agentdeck

function __agentdeck_complete
    set -l words (commandline -opc)
    # the last word may have a quote that is still open
    set -l current (commandline -ct | string replace -r '^[\'"]' '' | string unescape)
    set -l lines (command agentdeck help --complete -- $words[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case directories
            __fish_complete_directories (commandline -ct)
        case files
            __fish_complete_path (commandline -ct)
        case programs
            __fish_complete_command
    end
    if test (count $lines) -gt 1
        printf '%s\n' $lines[2..-1]
    end
end

complete -c agentdeck -f -a '(__agentdeck_complete)'
