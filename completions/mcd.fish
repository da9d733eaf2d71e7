# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_mcd_global_optspecs
    string join \n color= q/quiet v/verbose log-file= h/help V/version
end

function __fish_mcd_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_mcd_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_mcd_using_subcommand
    set -l cmd (__fish_mcd_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c mcd -n "__fish_mcd_needs_command" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_needs_command" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_needs_command" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_needs_command" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_needs_command" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_needs_command" -s V -l version -d 'Print version'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "init" -d 'Write a fleet and an application file from the kubeconfig and what lies in this folder'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "targets" -d 'List the resolved targets: cluster, context, namespace, labels, tool'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "validate" -d 'Check files, rendering and manifests without a cluster'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "render" -d 'Write each target\'s manifests to stdout or a folder'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "diff" -d 'Show what would change, as a unified diff (exit 1: differences)'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "plan" -d 'Show what an apply would do in each target'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "apply" -d 'Make each target what its manifests say, and wait until it is healthy'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "adopt" -d 'Take over what another deployer, such as helm, has made, and apply the manifests to it'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "rollback" -d 'Give each target the objects of an earlier release again'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "rollout" -d 'Take a release through steps and waves; look at it, approve it, go on, take it back'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "delete" -d 'Delete the application from the targets'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "status" -d 'Show how the application stands in each target'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "history" -d 'Show the releases of each target'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "compare" -d 'Show what two targets have that is not the same (exit 1: differences)'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "doctor" -d 'Check that all is there that plan, apply and delete need: reachable, identity, rights, APIs, tools'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "freeze" -d 'Keep everyone from writing to the targets, until it is lifted or its time is over'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "unlock" -d 'Remove the lock that a run left behind'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "schema" -d 'Print the JSON Schema of a file or of an output'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "completions" -d 'Print the completion script of a shell'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "man" -d 'Write the man pages into a folder'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "reference" -d 'Print the reference of every command as Markdown'
complete -c mcd -n "__fish_mcd_needs_command" -f -a "version" -d 'Print the version of mcd, and of each cluster'
complete -c mcd -n "__fish_mcd_using_subcommand init" -l name -d 'The application\'s name; default: that of the folder' -r
complete -c mcd -n "__fish_mcd_using_subcommand init" -s n -l namespace -d 'The namespace to deploy to; default: the application\'s name' -r
complete -c mcd -n "__fish_mcd_using_subcommand init" -l context -d 'Contexts of the kubeconfig that become clusters; globs work, and the flag may be repeated. Default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand init" -l fleet -d 'The fleet file to write; one that is there is used as it is' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand init" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand init" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand init" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand init" -l force -d 'Write over files that are there'
complete -c mcd -n "__fish_mcd_using_subcommand init" -s y -l yes -d 'Don\'t ask before all contexts are taken'
complete -c mcd -n "__fish_mcd_using_subcommand init" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand init" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand init" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand targets" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand targets" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand targets" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand targets" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand targets" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand targets" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand targets" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand targets" -l kubeconfig -d 'The kubeconfig in which generators of the fleet look; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand targets" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand targets" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand targets" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand targets" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand targets" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand validate" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand validate" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand validate" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand validate" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l kubeconfig -d 'The kubeconfig in which generators of the fleet look; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand validate" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand validate" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand validate" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand validate" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand render" -l out -d 'Write one file a target into this folder' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand render" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand render" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand render" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand render" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand render" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand render" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand render" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand render" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand render" -l offline -d 'Ask no cluster: helm gets the versions that the fleet file names'
complete -c mcd -n "__fish_mcd_using_subcommand render" -l show-secrets -d 'Show the values of Secrets on stdout'
complete -c mcd -n "__fish_mcd_using_subcommand render" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand render" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand render" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l context-lines -d 'How many lines to show around a change' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l release -d 'Compare with the objects of this release instead of the manifests: what a rollback to it would change' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l prune -d 'Delete what left the manifests (`--prune=false`: keep it, and say so)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l move-from -d 'Bring the application\'s state here from another state namespace, or from what the application was called: `shop`, `shop/web`' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand diff" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand diff" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l structural -d 'Show field by field, list items by their keys, in place of lines of YAML'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l verify -d 'Ask the server about every object, also about those whose digests say "unchanged"'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l force-conflicts -d 'Win every conflict with another field manager'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l adopt -d 'Take over objects that helm, kapp, kluctl or another deployer holds'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l allow-prune-all -d 'Prune also when the manifests are empty, or more than half of the objects would go'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l with-namespaces -d 'Delete namespaces that the application owns, with everything in them'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l with-definitions -d 'Delete definitions that the application owns, with all their objects'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -l with-volumes -d 'Delete volumes and claims that the application owns, with their data'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand diff" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l strategy -d 'How a release reaches each target: auto (by what changes), plain (at once), steps (through the steps of the application file)' -r -f -a "auto\t'By what changes in it'
plain\t'At once'
steps\t'Through the steps of the application file'"
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l prune -d 'Delete what left the manifests (`--prune=false`: keep it, and say so)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l move-from -d 'Bring the application\'s state here from another state namespace, or from what the application was called: `shop`, `shop/web`' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand plan" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand plan" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l detailed-exitcode -d 'Exit with 2 when there are changes'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l verify -d 'Ask the server about every object, also about those whose digests say "unchanged"'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l force-conflicts -d 'Win every conflict with another field manager'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l adopt -d 'Take over objects that helm, kapp, kluctl or another deployer holds'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l allow-prune-all -d 'Prune also when the manifests are empty, or more than half of the objects would go'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l with-namespaces -d 'Delete namespaces that the application owns, with everything in them'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l with-definitions -d 'Delete definitions that the application owns, with all their objects'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -l with-volumes -d 'Delete volumes and claims that the application owns, with their data'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand plan" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l strategy -d 'How a release reaches each target: auto (by what changes), plain (at once), steps (through the steps of the application file)' -r -f -a "auto\t'By what changes in it'
plain\t'At once'
steps\t'Through the steps of the application file'"
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l move-from -d 'Bring the application\'s state here from another state namespace, or from what the application was called: `shop`, `shop/web`' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l prune -d 'Delete what left the manifests (`--prune=false`: keep it, and say so)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l wait -d 'Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don\'t)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l timeout -d 'How long to wait for a target; default: 10m, and for a step of a rollout what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l wait-approval -d 'Wait for an approval, at most so long, rather than end with exit code 7' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand apply" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand apply" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand apply" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l keep-going -d 'Go on in the other targets when one cannot be rendered, planned or reached'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l dry-run -d 'Show the plan and write nothing'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l verify -d 'Ask the server about every object, also about those whose digests say "unchanged"'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l force-conflicts -d 'Win every conflict with another field manager'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l adopt -d 'Take over objects that helm, kapp, kluctl or another deployer holds'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l allow-prune-all -d 'Prune also when the manifests are empty, or more than half of the objects would go'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l with-namespaces -d 'Delete namespaces that the application owns, with everything in them'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l with-definitions -d 'Delete definitions that the application owns, with all their objects'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l with-volumes -d 'Delete volumes and claims that the application owns, with their data'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -l budget-ok -d 'Exit with 0 also when targets failed, as long as no wave had more failures than it may'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand apply" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l wait -d 'Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don\'t)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l timeout -d 'How long to wait for a target; default: 10m, and for a step of a rollout what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l keep-going -d 'Go on in the other targets when one cannot be rendered, planned or reached'
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l dry-run -d 'Show what would be taken over, and write nothing'
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -l force-conflicts -d 'Win every conflict with another field manager'
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand adopt" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l to -d 'The release to go back to; default: in each target the one before the active one' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l prune -d 'Delete what left the manifests (`--prune=false`: keep it, and say so)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l wait -d 'Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don\'t)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l timeout -d 'How long to wait for a target; default: 10m, and for a step of a rollout what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l keep-going -d 'Go on in the other targets when one cannot go back or be reached'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l dry-run -d 'Show the plan and write nothing'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l verify -d 'Ask the server about every object, also about those whose digests say "unchanged"'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l force-conflicts -d 'Win every conflict with another field manager'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l adopt -d 'Take over objects that helm, kapp, kluctl or another deployer holds'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l allow-prune-all -d 'Prune also when the manifests are empty, or more than half of the objects would go'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l with-namespaces -d 'Delete namespaces that the application owns, with everything in them'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l with-definitions -d 'Delete definitions that the application owns, with all their objects'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -l with-volumes -d 'Delete volumes and claims that the application owns, with their data'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollback" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -f -a "run" -d 'Apply through the steps and waves of the application file'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -f -a "canary" -d 'By hand: run copies of the workloads with the new release beside the old one'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -f -a "primary" -d 'By hand: make the workloads themselves the new release'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -f -a "clean" -d 'By hand: delete the copies; after `primary` this ends the rollout'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -f -a "status" -d 'Show how the rollout stands in each target, or how the last one ended'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -f -a "approve" -d 'Let a wave start, or a pause end; `resume`, or the run that waits, goes on'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -f -a "resume" -d 'Go on with a rollout that stopped, was interrupted or was approved'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and not __fish_seen_subcommand_from run canary primary clean status approve resume abort" -f -a "abort" -d 'Take the rollout back: every target gets the release again that it ran before'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l prune -d 'Delete what left the manifests (`--prune=false`: keep it, and say so)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l wait -d 'Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don\'t)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l timeout -d 'How long to wait for a target; default: 10m, and for a step of a rollout what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l wait-approval -d 'Wait for an approval, at most so long, rather than end with exit code 7' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l keep-going -d 'Go on in the other targets when one cannot be rendered, planned or reached'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l dry-run -d 'Show the plan and write nothing'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l verify -d 'Ask the server about every object, also about those whose digests say "unchanged"'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l force-conflicts -d 'Win every conflict with another field manager'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l adopt -d 'Take over objects that helm, kapp, kluctl or another deployer holds'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l allow-prune-all -d 'Prune also when the manifests are empty, or more than half of the objects would go'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l with-namespaces -d 'Delete namespaces that the application owns, with everything in them'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l with-definitions -d 'Delete definitions that the application owns, with all their objects'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l with-volumes -d 'Delete volumes and claims that the application owns, with their data'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -l budget-ok -d 'Exit with 0 also when targets failed, as long as no wave had more failures than it may'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l replicas -d 'How many replicas each copy has: a number, or a share of the replicas that run now (`20%`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l suffix -d 'What is appended to the names of the copies, after a dash' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l prune -d 'Delete what left the manifests (`--prune=false`: keep it, and say so)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l wait -d 'Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don\'t)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l timeout -d 'How long to wait for a target; default: 10m, and for a step of a rollout what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l wait-approval -d 'Wait for an approval, at most so long, rather than end with exit code 7' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l service -d 'Make a Service that selects only the copies'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l keep-going -d 'Go on in the other targets when one cannot be rendered, planned or reached'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l dry-run -d 'Show the plan and write nothing'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l verify -d 'Ask the server about every object, also about those whose digests say "unchanged"'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l force-conflicts -d 'Win every conflict with another field manager'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l adopt -d 'Take over objects that helm, kapp, kluctl or another deployer holds'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l allow-prune-all -d 'Prune also when the manifests are empty, or more than half of the objects would go'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l with-namespaces -d 'Delete namespaces that the application owns, with everything in them'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l with-definitions -d 'Delete definitions that the application owns, with all their objects'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l with-volumes -d 'Delete volumes and claims that the application owns, with their data'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -l budget-ok -d 'Exit with 0 also when targets failed, as long as no wave had more failures than it may'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from canary" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l wait -d 'Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don\'t)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l timeout -d 'How long to wait for a target; default: 10m, and for a step of a rollout what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from primary" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l wait -d 'Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don\'t)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l timeout -d 'How long to wait for a target; default: 10m, and for a step of a rollout what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from clean" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -s f -l file -d 'The application file; not needed with `--app`' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l app -d 'The application, without its file: any one of the rollout\'s clusters says the rest' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -s n -l namespace -d 'With `--app`: the application\'s namespace' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l state-namespace -d 'With `--app`: the namespace of its state, where `stateNamespace` is set' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l context -d 'With `--app`: the kubeconfig context of one of the rollout\'s clusters' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l id -d 'The rollout, where more than one is open' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l all -d 'A row for each target, also where many stand alike'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l watch -d 'Go on looking every two seconds, and show what changes, until the rollout is closed or Ctrl-C (exit 130)'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -l tree -d 'Show each object with what it has made: pods, the last warnings, the last log lines of containers that fail'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l wave -d 'The wave, by name or number; default: the one that waits' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l step -d 'The step, from 1, whose pause may end; default: the one that waits' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -s f -l file -d 'The application file; not needed with `--app`' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l app -d 'The application, without its file: any one of the rollout\'s clusters says the rest' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -s n -l namespace -d 'With `--app`: the application\'s namespace' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l state-namespace -d 'With `--app`: the namespace of its state, where `stateNamespace` is set' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l context -d 'With `--app`: the kubeconfig context of one of the rollout\'s clusters' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l id -d 'The rollout, where more than one is open' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from approve" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l timeout -d 'How long a step of a target may take; default: what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l wait-approval -d 'Wait for an approval, at most so long, rather than end with exit code 7' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -s f -l file -d 'The application file; not needed with `--app`' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l app -d 'The application, without its file: any one of the rollout\'s clusters says the rest' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -s n -l namespace -d 'With `--app`: the application\'s namespace' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l state-namespace -d 'With `--app`: the namespace of its state, where `stateNamespace` is set' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l context -d 'With `--app`: the kubeconfig context of one of the rollout\'s clusters' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l id -d 'The rollout, where more than one is open' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -l budget-ok -d 'Exit with 0 also when targets failed, as long as no wave had more failures than it may'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -s f -l file -d 'The application file; not needed with `--app`' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l app -d 'The application, without its file: any one of the rollout\'s clusters says the rest' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -s n -l namespace -d 'With `--app`: the application\'s namespace' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l state-namespace -d 'With `--app`: the namespace of its state, where `stateNamespace` is set' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l context -d 'With `--app`: the kubeconfig context of one of the rollout\'s clusters' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l id -d 'The rollout, where more than one is open' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand rollout; and __fish_seen_subcommand_from abort" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l wait -d 'Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don\'t)' -r -f -a "true\t''
false\t''"
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l timeout -d 'How long to wait for a target; default: 10m, and for a step of a rollout what its wave says' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l events -d 'Write every event of the run to this file, as lines of JSON, after what it holds' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand delete" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand delete" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand delete" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l with-namespaces -d 'Delete namespaces that the application owns, with everything in them'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l with-definitions -d 'Delete definitions that the application owns, with all their objects'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l with-volumes -d 'Delete volumes and claims that the application owns, with their data'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l keep-going -d 'Go on in the other targets when one cannot be reached'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -l dry-run -d 'Show what would be deleted and delete nothing'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand delete" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand status" -l timeout -d 'How long `--wait` waits for a target' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand status" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand status" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand status" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand status" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand status" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand status" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand status" -l wait -d 'Wait until all targets are healthy; exit 1 when they are not in time'
complete -c mcd -n "__fish_mcd_using_subcommand status" -l watch -d 'Go on looking every two seconds, and show what changes, until Ctrl-C (exit 130)'
complete -c mcd -n "__fish_mcd_using_subcommand status" -l tree -d 'Show each object with what it has made: pods, the last warnings, the last log lines of containers that fail'
complete -c mcd -n "__fish_mcd_using_subcommand status" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand status" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand status" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand history; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Show one release: who made it, from what, how it ended, its objects'
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -l manifests -d 'Show its manifests; values of Secrets are masked'
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand history; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand compare" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand compare" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand compare" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand compare" -l live -d 'Compare what the clusters have, of each object what its manifest sets, and not what was rendered for the active releases'
complete -c mcd -n "__fish_mcd_using_subcommand compare" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand compare" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand compare" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l kustomize-bin -d 'Use this kustomize, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l helm-bin -d 'Use this helm, for the targets whose version it satisfies' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l tool-timeout -d 'How long one run of kustomize or helm may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -l role -d 'Print the Roles that grant the user what is needed, instead of the checks'
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l reason -d 'Why; whoever is kept from writing reads it' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l until -d 'Until when: a duration from now (`90m`, `12h`), or a time (`2026-12-24T18:00:00Z`); default: until it is lifted' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -l off -d 'Lift it'
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand freeze" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -s y -l yes -d 'Don\'t ask; needed where stdin or stderr is not a terminal'
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand unlock" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand schema" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand schema" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand schema" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand schema" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand schema" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand completions" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand completions" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand completions" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand completions" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand completions" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand man" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand man" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand man" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand man" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand man" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand reference" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand reference" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand reference" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand reference" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand reference" -s h -l help -d 'Print help'
complete -c mcd -n "__fish_mcd_using_subcommand version" -s o -l output -d 'The form of the result on stdout: table, json, yaml, or name (one a line)' -r -f -a "table\t'For people'
json\t'JSON, with a documented schema'
yaml\t'The same as YAML'
name\t'One name a line'"
complete -c mcd -n "__fish_mcd_using_subcommand version" -s f -l file -d 'The application file' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand version" -l fleet -d 'The fleet file; default: what the application file says' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand version" -s t -l target -d 'Only these targets; globs work, and the flag may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -s l -l selector -d 'Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -l wave -d 'Only targets of this wave of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -l var -d 'Set a variable of the application file; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -l kubeconfig -d 'The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand version" -l as -d 'Act as this user' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -l as-uid -d 'Act with this uid' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -l request-timeout -d 'How long one call to an API server may take' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -l concurrency -d 'How many targets at once; default: all' -r
complete -c mcd -n "__fish_mcd_using_subcommand version" -l color -d 'When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mcd -n "__fish_mcd_using_subcommand version" -l log-file -d 'Write a log of what mcd does to this file (never with secret values)' -r -F
complete -c mcd -n "__fish_mcd_using_subcommand version" -l client -d 'Only mcd\'s own version: no file is read, no cluster asked'
complete -c mcd -n "__fish_mcd_using_subcommand version" -s q -l quiet -d 'Show results and errors only'
complete -c mcd -n "__fish_mcd_using_subcommand version" -s v -l verbose -d 'Show more: how many objects stay unchanged, every attempt that failed'
complete -c mcd -n "__fish_mcd_using_subcommand version" -s h -l help -d 'Print help'
