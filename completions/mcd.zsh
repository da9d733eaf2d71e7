#compdef mcd

autoload -U is-at-least

_mcd() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_mcd_commands" \
"*::: :->mcd" \
&& ret=0
    case $state in
    (mcd)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:mcd-command-$line[1]:"
        case $line[1] in
            (init)
_arguments "${_arguments_options[@]}" : \
'--name=[The application'\''s name; default\: that of the folder]:NAME:_default' \
'-n+[The namespace to deploy to; default\: the application'\''s name]:NAMESPACE:_default' \
'--namespace=[The namespace to deploy to; default\: the application'\''s name]:NAMESPACE:_default' \
'*--context=[Contexts of the kubeconfig that become clusters; globs work, and the flag may be repeated. Default\: all]:CONTEXT:_default' \
'--fleet=[The fleet file to write; one that is there is used as it is]:FILE:_files' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--force[Write over files that are there]' \
'-y[Don'\''t ask before all contexts are taken]' \
'--yes[Don'\''t ask before all contexts are taken]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
'::path -- What to render\: a folder with a kustomization, a chart or manifests, or a manifest; default\: what is found in this folder and below:_files' \
&& ret=0
;;
(targets)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig in which generators of the fleet look; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(validate)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig in which generators of the fleet look; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(render)
_arguments "${_arguments_options[@]}" : \
'--out=[Write one file a target into this folder]:FOLDER:_files' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--offline[Ask no cluster\: helm gets the versions that the fleet file names]' \
'--show-secrets[Show the values of Secrets on stdout]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'--context-lines=[How many lines to show around a change]:N:_default' \
'--release=[Compare with the objects of this release instead of the manifests\: what a rollback to it would change]:N:_default' \
'--prune=[Delete what left the manifests (\`--prune=false\`\: keep it, and say so)]::BOOL:(true false)' \
'--move-from=[Bring the application'\''s state here from another state namespace, or from what the application was called\: \`shop\`, \`shop/web\`]:NAMESPACE[/NAME]:_default' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--structural[Show field by field, list items by their keys, in place of lines of YAML]' \
'--verify[Ask the server about every object, also about those whose digests say "unchanged"]' \
'--force-conflicts[Win every conflict with another field manager]' \
'--adopt[Take over objects that helm, kapp, kluctl or another deployer holds]' \
'--allow-prune-all[Prune also when the manifests are empty, or more than half of the objects would go]' \
'--with-namespaces[Delete namespaces that the application owns, with everything in them]' \
'--with-definitions[Delete definitions that the application owns, with all their objects]' \
'--with-volumes[Delete volumes and claims that the application owns, with their data]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(plan)
_arguments "${_arguments_options[@]}" : \
'--strategy=[How a release reaches each target\: auto (by what changes), plain (at once), steps (through the steps of the application file)]:STRATEGY:((auto\:"By what changes in it"
plain\:"At once"
steps\:"Through the steps of the application file"))' \
'--prune=[Delete what left the manifests (\`--prune=false\`\: keep it, and say so)]::BOOL:(true false)' \
'--move-from=[Bring the application'\''s state here from another state namespace, or from what the application was called\: \`shop\`, \`shop/web\`]:NAMESPACE[/NAME]:_default' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--detailed-exitcode[Exit with 2 when there are changes]' \
'--verify[Ask the server about every object, also about those whose digests say "unchanged"]' \
'--force-conflicts[Win every conflict with another field manager]' \
'--adopt[Take over objects that helm, kapp, kluctl or another deployer holds]' \
'--allow-prune-all[Prune also when the manifests are empty, or more than half of the objects would go]' \
'--with-namespaces[Delete namespaces that the application owns, with everything in them]' \
'--with-definitions[Delete definitions that the application owns, with all their objects]' \
'--with-volumes[Delete volumes and claims that the application owns, with their data]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
'--strategy=[How a release reaches each target\: auto (by what changes), plain (at once), steps (through the steps of the application file)]:STRATEGY:((auto\:"By what changes in it"
plain\:"At once"
steps\:"Through the steps of the application file"))' \
'--move-from=[Bring the application'\''s state here from another state namespace, or from what the application was called\: \`shop\`, \`shop/web\`]:NAMESPACE[/NAME]:_default' \
'--prune=[Delete what left the manifests (\`--prune=false\`\: keep it, and say so)]::BOOL:(true false)' \
'--wait=[Wait until the targets are healthy, or what was deleted is gone (\`--wait=false\`\: don'\''t)]::BOOL:(true false)' \
'--timeout=[How long to wait for a target; default\: 10m, and for a step of a rollout what its wave says]:DURATION:_default' \
'--wait-approval=[Wait for an approval, at most so long, rather than end with exit code 7]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--keep-going[Go on in the other targets when one cannot be rendered, planned or reached]' \
'--dry-run[Show the plan and write nothing]' \
'--verify[Ask the server about every object, also about those whose digests say "unchanged"]' \
'--force-conflicts[Win every conflict with another field manager]' \
'--adopt[Take over objects that helm, kapp, kluctl or another deployer holds]' \
'--allow-prune-all[Prune also when the manifests are empty, or more than half of the objects would go]' \
'--with-namespaces[Delete namespaces that the application owns, with everything in them]' \
'--with-definitions[Delete definitions that the application owns, with all their objects]' \
'--with-volumes[Delete volumes and claims that the application owns, with their data]' \
'--budget-ok[Exit with 0 also when targets failed, as long as no wave had more failures than it may]' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(adopt)
_arguments "${_arguments_options[@]}" : \
'--wait=[Wait until the targets are healthy, or what was deleted is gone (\`--wait=false\`\: don'\''t)]::BOOL:(true false)' \
'--timeout=[How long to wait for a target; default\: 10m, and for a step of a rollout what its wave says]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--keep-going[Go on in the other targets when one cannot be rendered, planned or reached]' \
'--dry-run[Show what would be taken over, and write nothing]' \
'--force-conflicts[Win every conflict with another field manager]' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(rollback)
_arguments "${_arguments_options[@]}" : \
'--to=[The release to go back to; default\: in each target the one before the active one]:N:_default' \
'--prune=[Delete what left the manifests (\`--prune=false\`\: keep it, and say so)]::BOOL:(true false)' \
'--wait=[Wait until the targets are healthy, or what was deleted is gone (\`--wait=false\`\: don'\''t)]::BOOL:(true false)' \
'--timeout=[How long to wait for a target; default\: 10m, and for a step of a rollout what its wave says]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--keep-going[Go on in the other targets when one cannot go back or be reached]' \
'--dry-run[Show the plan and write nothing]' \
'--verify[Ask the server about every object, also about those whose digests say "unchanged"]' \
'--force-conflicts[Win every conflict with another field manager]' \
'--adopt[Take over objects that helm, kapp, kluctl or another deployer holds]' \
'--allow-prune-all[Prune also when the manifests are empty, or more than half of the objects would go]' \
'--with-namespaces[Delete namespaces that the application owns, with everything in them]' \
'--with-definitions[Delete definitions that the application owns, with all their objects]' \
'--with-volumes[Delete volumes and claims that the application owns, with their data]' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(rollout)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_mcd__subcmd__rollout_commands" \
"*::: :->rollout" \
&& ret=0

    case $state in
    (rollout)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:mcd-rollout-command-$line[1]:"
        case $line[1] in
            (run)
_arguments "${_arguments_options[@]}" : \
'--prune=[Delete what left the manifests (\`--prune=false\`\: keep it, and say so)]::BOOL:(true false)' \
'--wait=[Wait until the targets are healthy, or what was deleted is gone (\`--wait=false\`\: don'\''t)]::BOOL:(true false)' \
'--timeout=[How long to wait for a target; default\: 10m, and for a step of a rollout what its wave says]:DURATION:_default' \
'--wait-approval=[Wait for an approval, at most so long, rather than end with exit code 7]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--keep-going[Go on in the other targets when one cannot be rendered, planned or reached]' \
'--dry-run[Show the plan and write nothing]' \
'--verify[Ask the server about every object, also about those whose digests say "unchanged"]' \
'--force-conflicts[Win every conflict with another field manager]' \
'--adopt[Take over objects that helm, kapp, kluctl or another deployer holds]' \
'--allow-prune-all[Prune also when the manifests are empty, or more than half of the objects would go]' \
'--with-namespaces[Delete namespaces that the application owns, with everything in them]' \
'--with-definitions[Delete definitions that the application owns, with all their objects]' \
'--with-volumes[Delete volumes and claims that the application owns, with their data]' \
'--budget-ok[Exit with 0 also when targets failed, as long as no wave had more failures than it may]' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(canary)
_arguments "${_arguments_options[@]}" : \
'--replicas=[How many replicas each copy has\: a number, or a share of the replicas that run now (\`20%\`)]:N|%:_default' \
'--suffix=[What is appended to the names of the copies, after a dash]:TEXT:_default' \
'--prune=[Delete what left the manifests (\`--prune=false\`\: keep it, and say so)]::BOOL:(true false)' \
'--wait=[Wait until the targets are healthy, or what was deleted is gone (\`--wait=false\`\: don'\''t)]::BOOL:(true false)' \
'--timeout=[How long to wait for a target; default\: 10m, and for a step of a rollout what its wave says]:DURATION:_default' \
'--wait-approval=[Wait for an approval, at most so long, rather than end with exit code 7]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--service[Make a Service that selects only the copies]' \
'--keep-going[Go on in the other targets when one cannot be rendered, planned or reached]' \
'--dry-run[Show the plan and write nothing]' \
'--verify[Ask the server about every object, also about those whose digests say "unchanged"]' \
'--force-conflicts[Win every conflict with another field manager]' \
'--adopt[Take over objects that helm, kapp, kluctl or another deployer holds]' \
'--allow-prune-all[Prune also when the manifests are empty, or more than half of the objects would go]' \
'--with-namespaces[Delete namespaces that the application owns, with everything in them]' \
'--with-definitions[Delete definitions that the application owns, with all their objects]' \
'--with-volumes[Delete volumes and claims that the application owns, with their data]' \
'--budget-ok[Exit with 0 also when targets failed, as long as no wave had more failures than it may]' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(primary)
_arguments "${_arguments_options[@]}" : \
'--wait=[Wait until the targets are healthy, or what was deleted is gone (\`--wait=false\`\: don'\''t)]::BOOL:(true false)' \
'--timeout=[How long to wait for a target; default\: 10m, and for a step of a rollout what its wave says]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(clean)
_arguments "${_arguments_options[@]}" : \
'--wait=[Wait until the targets are healthy, or what was deleted is gone (\`--wait=false\`\: don'\''t)]::BOOL:(true false)' \
'--timeout=[How long to wait for a target; default\: 10m, and for a step of a rollout what its wave says]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file; not needed with \`--app\`]:FILE:_files' \
'--file=[The application file; not needed with \`--app\`]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'--app=[The application, without its file\: any one of the rollout'\''s clusters says the rest]:NAME:_default' \
'-n+[With \`--app\`\: the application'\''s namespace]:NAMESPACE:_default' \
'--namespace=[With \`--app\`\: the application'\''s namespace]:NAMESPACE:_default' \
'--state-namespace=[With \`--app\`\: the namespace of its state, where \`stateNamespace\` is set]:NAMESPACE:_default' \
'--context=[With \`--app\`\: the kubeconfig context of one of the rollout'\''s clusters]:CONTEXT:_default' \
'--id=[The rollout, where more than one is open]:ID:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--all[A row for each target, also where many stand alike]' \
'(--tree)--watch[Go on looking every two seconds, and show what changes, until the rollout is closed or Ctrl-C (exit 130)]' \
'--tree[Show each object with what it has made\: pods, the last warnings, the last log lines of containers that fail]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(approve)
_arguments "${_arguments_options[@]}" : \
'--wave=[The wave, by name or number; default\: the one that waits]:WAVE:_default' \
'--step=[The step, from 1, whose pause may end; default\: the one that waits]:N:_default' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file; not needed with \`--app\`]:FILE:_files' \
'--file=[The application file; not needed with \`--app\`]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'--app=[The application, without its file\: any one of the rollout'\''s clusters says the rest]:NAME:_default' \
'-n+[With \`--app\`\: the application'\''s namespace]:NAMESPACE:_default' \
'--namespace=[With \`--app\`\: the application'\''s namespace]:NAMESPACE:_default' \
'--state-namespace=[With \`--app\`\: the namespace of its state, where \`stateNamespace\` is set]:NAMESPACE:_default' \
'--context=[With \`--app\`\: the kubeconfig context of one of the rollout'\''s clusters]:CONTEXT:_default' \
'--id=[The rollout, where more than one is open]:ID:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(resume)
_arguments "${_arguments_options[@]}" : \
'--timeout=[How long a step of a target may take; default\: what its wave says]:DURATION:_default' \
'--wait-approval=[Wait for an approval, at most so long, rather than end with exit code 7]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file; not needed with \`--app\`]:FILE:_files' \
'--file=[The application file; not needed with \`--app\`]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'--app=[The application, without its file\: any one of the rollout'\''s clusters says the rest]:NAME:_default' \
'-n+[With \`--app\`\: the application'\''s namespace]:NAMESPACE:_default' \
'--namespace=[With \`--app\`\: the application'\''s namespace]:NAMESPACE:_default' \
'--state-namespace=[With \`--app\`\: the namespace of its state, where \`stateNamespace\` is set]:NAMESPACE:_default' \
'--context=[With \`--app\`\: the kubeconfig context of one of the rollout'\''s clusters]:CONTEXT:_default' \
'--id=[The rollout, where more than one is open]:ID:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--budget-ok[Exit with 0 also when targets failed, as long as no wave had more failures than it may]' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(abort)
_arguments "${_arguments_options[@]}" : \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file; not needed with \`--app\`]:FILE:_files' \
'--file=[The application file; not needed with \`--app\`]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'--app=[The application, without its file\: any one of the rollout'\''s clusters says the rest]:NAME:_default' \
'-n+[With \`--app\`\: the application'\''s namespace]:NAMESPACE:_default' \
'--namespace=[With \`--app\`\: the application'\''s namespace]:NAMESPACE:_default' \
'--state-namespace=[With \`--app\`\: the namespace of its state, where \`stateNamespace\` is set]:NAMESPACE:_default' \
'--context=[With \`--app\`\: the kubeconfig context of one of the rollout'\''s clusters]:CONTEXT:_default' \
'--id=[The rollout, where more than one is open]:ID:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
        esac
    ;;
esac
;;
(delete)
_arguments "${_arguments_options[@]}" : \
'--wait=[Wait until the targets are healthy, or what was deleted is gone (\`--wait=false\`\: don'\''t)]::BOOL:(true false)' \
'--timeout=[How long to wait for a target; default\: 10m, and for a step of a rollout what its wave says]:DURATION:_default' \
'--events=[Write every event of the run to this file, as lines of JSON, after what it holds]:FILE:_files' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--with-namespaces[Delete namespaces that the application owns, with everything in them]' \
'--with-definitions[Delete definitions that the application owns, with all their objects]' \
'--with-volumes[Delete volumes and claims that the application owns, with their data]' \
'--keep-going[Go on in the other targets when one cannot be reached]' \
'--dry-run[Show what would be deleted and delete nothing]' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--timeout=[How long \`--wait\` waits for a target]:DURATION:_default' \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--wait[Wait until all targets are healthy; exit 1 when they are not in time]' \
'(--wait --tree)--watch[Go on looking every two seconds, and show what changes, until Ctrl-C (exit 130)]' \
'--tree[Show each object with what it has made\: pods, the last warnings, the last log lines of containers that fail]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(history)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_mcd__subcmd__history_commands" \
"*::: :->history" \
&& ret=0

    case $state in
    (history)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:mcd-history-command-$line[1]:"
        case $line[1] in
            (show)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--manifests[Show its manifests; values of Secrets are masked]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
':number -- The release'\''s number:_default' \
&& ret=0
;;
        esac
    ;;
esac
;;
(compare)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--live[Compare what the clusters have, of each object what its manifest sets, and not what was rendered for the active releases]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
':a -- A target:_default' \
':b -- The target that it is compared with:_default' \
&& ret=0
;;
(doctor)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--kustomize-bin=[Use this kustomize, for the targets whose version it satisfies]:PATH:_files' \
'--helm-bin=[Use this helm, for the targets whose version it satisfies]:PATH:_files' \
'--tool-timeout=[How long one run of kustomize or helm may take]:DURATION:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--role[Print the Roles that grant the user what is needed, instead of the checks]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(freeze)
_arguments "${_arguments_options[@]}" : \
'--reason=[Why; whoever is kept from writing reads it]:TEXT:_default' \
'--until=[Until when\: a duration from now (\`90m\`, \`12h\`), or a time (\`2026-12-24T18\:00\:00Z\`); default\: until it is lifted]:WHEN:_default' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'(--reason --until)--off[Lift it]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(unlock)
_arguments "${_arguments_options[@]}" : \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-y[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'--yes[Don'\''t ask; needed where stdin or stderr is not a terminal]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(schema)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
':document -- Which document:((fleet\:"The fleet file"
application\:"The application file"
plan\:"The output of \`plan -o json\` and \`diff -o json\`"
run\:"The output of \`apply\`, \`rollback\`, \`delete\` and \`status\` with \`-o json\`"
history\:"The output of \`history -o json\`"
release\:"The output of \`history show -o json\`"
compare\:"The output of \`compare -o json\`"
doctor\:"The output of \`doctor -o json\`"
rollout\:"The output of the verbs of a rollout with \`-o json\`"
event\:"A line of the file that \`--events\` names"))' \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
':shell -- The shell:(bash elvish fish powershell zsh)' \
&& ret=0
;;
(man)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
':folder -- The folder that gets one page a command:_files' \
&& ret=0
;;
(reference)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'--output=[The form of the result on stdout\: table, json, yaml, or name (one a line)]:FORMAT:((table\:"For people"
json\:"JSON, with a documented schema"
yaml\:"The same as YAML"
name\:"One name a line"))' \
'-f+[The application file]:FILE:_files' \
'--file=[The application file]:FILE:_files' \
'--fleet=[The fleet file; default\: what the application file says]:FILE:_files' \
'*-t+[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'*--target=[Only these targets; globs work, and the flag may be repeated]:NAME:_default' \
'-l+[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'--selector=[Only targets whose cluster has these labels (\`env=prod,region!=us\`, \`tier in (a,b)\`)]:SELECTOR:_default' \
'*--wave=[Only targets of this wave of the application file; may be repeated]:NAME:_default' \
'*--var=[Set a variable of the application file; may be repeated]:NAME=VALUE:_default' \
'--kubeconfig=[The kubeconfig file; default\: \$KUBECONFIG (a list), then ~/.kube/config]:FILE:_files' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group; may be repeated]:GROUP:_default' \
'--as-uid=[Act with this uid]:UID:_default' \
'--request-timeout=[How long one call to an API server may take]:DURATION:_default' \
'--concurrency=[How many targets at once; default\: all]:N:_default' \
'--color=[When to use colour\: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never]:WHEN:((auto\:"On a terminal"
always\:"Always"
never\:"Never"))' \
'--log-file=[Write a log of what mcd does to this file (never with secret values)]:FILE:_files' \
'--client[Only mcd'\''s own version\: no file is read, no cluster asked]' \
'-q[Show results and errors only]' \
'--quiet[Show results and errors only]' \
'*-v[Show more\: how many objects stay unchanged, every attempt that failed]' \
'*--verbose[Show more\: how many objects stay unchanged, every attempt that failed]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
        esac
    ;;
esac
}

(( $+functions[_mcd_commands] )) ||
_mcd_commands() {
    local commands; commands=(
'init:Write a fleet and an application file from the kubeconfig and what lies in this folder' \
'targets:List the resolved targets\: cluster, context, namespace, labels, tool' \
'validate:Check files, rendering and manifests without a cluster' \
'render:Write each target'\''s manifests to stdout or a folder' \
'diff:Show what would change, as a unified diff (exit 1\: differences)' \
'plan:Show what an apply would do in each target' \
'apply:Make each target what its manifests say, and wait until it is healthy' \
'adopt:Take over what another deployer, such as helm, has made, and apply the manifests to it' \
'rollback:Give each target the objects of an earlier release again' \
'rollout:Take a release through steps and waves; look at it, approve it, go on, take it back' \
'delete:Delete the application from the targets' \
'status:Show how the application stands in each target' \
'history:Show the releases of each target' \
'compare:Show what two targets have that is not the same (exit 1\: differences)' \
'doctor:Check that all is there that plan, apply and delete need\: reachable, identity, rights, APIs, tools' \
'freeze:Keep everyone from writing to the targets, until it is lifted or its time is over' \
'unlock:Remove the lock that a run left behind' \
'schema:Print the JSON Schema of a file or of an output' \
'completions:Print the completion script of a shell' \
'man:Write the man pages into a folder' \
'reference:Print the reference of every command as Markdown' \
'version:Print the version of mcd, and of each cluster' \
    )
    _describe -t commands 'mcd commands' commands "$@"
}
(( $+functions[_mcd__subcmd__adopt_commands] )) ||
_mcd__subcmd__adopt_commands() {
    local commands; commands=()
    _describe -t commands 'mcd adopt commands' commands "$@"
}
(( $+functions[_mcd__subcmd__apply_commands] )) ||
_mcd__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'mcd apply commands' commands "$@"
}
(( $+functions[_mcd__subcmd__compare_commands] )) ||
_mcd__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'mcd compare commands' commands "$@"
}
(( $+functions[_mcd__subcmd__completions_commands] )) ||
_mcd__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'mcd completions commands' commands "$@"
}
(( $+functions[_mcd__subcmd__delete_commands] )) ||
_mcd__subcmd__delete_commands() {
    local commands; commands=()
    _describe -t commands 'mcd delete commands' commands "$@"
}
(( $+functions[_mcd__subcmd__diff_commands] )) ||
_mcd__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'mcd diff commands' commands "$@"
}
(( $+functions[_mcd__subcmd__doctor_commands] )) ||
_mcd__subcmd__doctor_commands() {
    local commands; commands=()
    _describe -t commands 'mcd doctor commands' commands "$@"
}
(( $+functions[_mcd__subcmd__freeze_commands] )) ||
_mcd__subcmd__freeze_commands() {
    local commands; commands=()
    _describe -t commands 'mcd freeze commands' commands "$@"
}
(( $+functions[_mcd__subcmd__history_commands] )) ||
_mcd__subcmd__history_commands() {
    local commands; commands=(
'show:Show one release\: who made it, from what, how it ended, its objects' \
    )
    _describe -t commands 'mcd history commands' commands "$@"
}
(( $+functions[_mcd__subcmd__history__subcmd__show_commands] )) ||
_mcd__subcmd__history__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'mcd history show commands' commands "$@"
}
(( $+functions[_mcd__subcmd__init_commands] )) ||
_mcd__subcmd__init_commands() {
    local commands; commands=()
    _describe -t commands 'mcd init commands' commands "$@"
}
(( $+functions[_mcd__subcmd__man_commands] )) ||
_mcd__subcmd__man_commands() {
    local commands; commands=()
    _describe -t commands 'mcd man commands' commands "$@"
}
(( $+functions[_mcd__subcmd__plan_commands] )) ||
_mcd__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'mcd plan commands' commands "$@"
}
(( $+functions[_mcd__subcmd__reference_commands] )) ||
_mcd__subcmd__reference_commands() {
    local commands; commands=()
    _describe -t commands 'mcd reference commands' commands "$@"
}
(( $+functions[_mcd__subcmd__render_commands] )) ||
_mcd__subcmd__render_commands() {
    local commands; commands=()
    _describe -t commands 'mcd render commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollback_commands] )) ||
_mcd__subcmd__rollback_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollback commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout_commands] )) ||
_mcd__subcmd__rollout_commands() {
    local commands; commands=(
'run:Apply through the steps and waves of the application file' \
'canary:By hand\: run copies of the workloads with the new release beside the old one' \
'primary:By hand\: make the workloads themselves the new release' \
'clean:By hand\: delete the copies; after \`primary\` this ends the rollout' \
'status:Show how the rollout stands in each target, or how the last one ended' \
'approve:Let a wave start, or a pause end; \`resume\`, or the run that waits, goes on' \
'resume:Go on with a rollout that stopped, was interrupted or was approved' \
'abort:Take the rollout back\: every target gets the release again that it ran before' \
    )
    _describe -t commands 'mcd rollout commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout__subcmd__abort_commands] )) ||
_mcd__subcmd__rollout__subcmd__abort_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollout abort commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout__subcmd__approve_commands] )) ||
_mcd__subcmd__rollout__subcmd__approve_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollout approve commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout__subcmd__canary_commands] )) ||
_mcd__subcmd__rollout__subcmd__canary_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollout canary commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout__subcmd__clean_commands] )) ||
_mcd__subcmd__rollout__subcmd__clean_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollout clean commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout__subcmd__primary_commands] )) ||
_mcd__subcmd__rollout__subcmd__primary_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollout primary commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout__subcmd__resume_commands] )) ||
_mcd__subcmd__rollout__subcmd__resume_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollout resume commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout__subcmd__run_commands] )) ||
_mcd__subcmd__rollout__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollout run commands' commands "$@"
}
(( $+functions[_mcd__subcmd__rollout__subcmd__status_commands] )) ||
_mcd__subcmd__rollout__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'mcd rollout status commands' commands "$@"
}
(( $+functions[_mcd__subcmd__schema_commands] )) ||
_mcd__subcmd__schema_commands() {
    local commands; commands=()
    _describe -t commands 'mcd schema commands' commands "$@"
}
(( $+functions[_mcd__subcmd__status_commands] )) ||
_mcd__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'mcd status commands' commands "$@"
}
(( $+functions[_mcd__subcmd__targets_commands] )) ||
_mcd__subcmd__targets_commands() {
    local commands; commands=()
    _describe -t commands 'mcd targets commands' commands "$@"
}
(( $+functions[_mcd__subcmd__unlock_commands] )) ||
_mcd__subcmd__unlock_commands() {
    local commands; commands=()
    _describe -t commands 'mcd unlock commands' commands "$@"
}
(( $+functions[_mcd__subcmd__validate_commands] )) ||
_mcd__subcmd__validate_commands() {
    local commands; commands=()
    _describe -t commands 'mcd validate commands' commands "$@"
}
(( $+functions[_mcd__subcmd__version_commands] )) ||
_mcd__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'mcd version commands' commands "$@"
}

if [ "$funcstack[1]" = "_mcd" ]; then
    _mcd "$@"
else
    compdef _mcd mcd
fi
