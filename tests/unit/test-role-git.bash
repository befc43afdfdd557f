#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-role-git.bash - roles from Git repositories, and roles that attack their user
#
# USAGE
#   test-role-git.bash [NAME...]    only these cases; agentdeck is found in PATH
#
# A hostile role runs something only if the file $root/ran is there afterwards: each program that it
# brings along makes that file. A role that its user may trust shows all that it gets before, so
# "gets nothing" is that check refuses it, or that show has no mount, capability or value of it.
#
# EXIT STATUS
#   0 all passed; 1 some failed
#
# The cases are called by their names, which shellcheck does not see.
# shellcheck disable=SC2317,SC2016,SC2015,SC2154,SC2001
set -uo pipefail
export LC_ALL=C.UTF-8
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1
# shellcheck source=tests/unit/cases.bash
source "${top_srcdir:-$(dirname "$0")/../..}/tests/unit/cases.bash"

readonly image='{"image": "debian:12"}' canary=canary-7d20c4

set_up() {
	root=$(mktemp -d /tmp/agentdeck-role-git-XXXXXX) || exit
	mkdir -m 700 "$root/deck" "$root/home"
	export HOME=$root/home
	run_it="touch $root/ran"
	role=$root/role
}
tear_down() { rm -rf "$root"; }

# deck WORD...: its status is in $status, its output in $out and $root/err
deck() {
	out=$(env -i "PATH=$PATH" "HOME=$HOME" "AGENTDECK_HOME=$root/deck" "TMPDIR=$root" SHELL=/bin/sh \
		LC_ALL=C.UTF-8 GIT_CONFIG_NOSYSTEM=1 "SECRET_TOKEN=$canary" agentdeck "$@" 2>"$root/err" </dev/null)
	status=$?
}

says() { [[ $out$(<"$root/err") == *"$1"* ]] || fail "does not say '$1': $out$(<"$root/err")"; }
says_not() { [[ $out$(<"$root/err") != *"$1"* ]] || fail "says '$1': $out$(<"$root/err")"; }
quiet() { [ ! -e "$root/ran" ] || fail "$case_name: something of the role has run"; }

# reads WHAT: it is a role that runs
reads() {
	deck role check "$1"
	[ "$status" = 0 ] || fail "$1: status $status: $(<"$root/err")"
	quiet
}

# refuses STATUS WORDS WHAT
refuses() {
	deck role check "$3"
	[ "$status" = "$1" ] || fail "$3: status $status, not $1: $out$(<"$root/err")"
	says "$2"
	quiet
}

# A repository with one commit: the files are in the working directory.
repository() { # [FILE TEXT]...
	git init -q -b main "$role"
	cd "$role" || exit
	while (($#)); do
		mkdir -p "$(dirname "$1")"
		printf '%s\n' "$2" >"$1"
		shift 2
	done
	git add -A && git commit -q --allow-empty -m one
}
again() { git -C "$role" add -A && git -C "$role" commit -q -m again; }

# A commit whose tree git would not make: tree "MODE NAME OBJECT"..., on the branch main
tree() {
	local line mode name object bytes
	for line; do
		read -r mode name object <<<"$line"
		printf '%s %b\0' "$mode" "$name"
		bytes=$(sed 's/../\\x&/g' <<<"$object")
		printf '%b' "$bytes"
	done | git hash-object -t tree --literally -w --stdin
}
commit_tree() { git update-ref refs/heads/main "$(git commit-tree -m tree "$1")"; }
blob() { printf '%s' "$1" | git hash-object -w --stdin; }

# ---- what works ------------------------------------------------------------------------------------

case_a_branch_a_tag_a_commit_and_a_directory_are_found() {
	local first
	repository devcontainer.json "$image" go/.devcontainer/devcontainer.json '{"image": "golang:1"}'
	first=$(git rev-parse HEAD)
	git tag -a -m one v1
	git checkout -q -b feature/x
	echo '{"image": "debian:13"}' >devcontainer.json
	again
	git checkout -q main
	for what in "$role@main" "$role@v1" "$role@$first" "file://$role" "file://$role@main"; do
		deck role show --json "$what"
		[ "$status" = 0 ] || fail "$what: $(<"$root/err")"
		says "\"commit\": \"$first\""
		says '"image": "debian:12"'
	done
	deck role show "$role@feature/x"
	says "debian:13"
	says "$role#devcontainer.json"
	deck role show "$role#go"
	says "golang:1"
	says "$role#go/.devcontainer/devcontainer.json"
	deck role show "$role@main#go/.devcontainer"
	says "golang:1"
	[ "$(git -C "$role" status --porcelain)" = "" ] || fail "the user's checkout has changed"
	# As a directory it is what is checked out, with or without Git.
	reads "$role"
	says "$role/devcontainer.json: runs"
	[ -n "$(find "$root/deck/roles.cache" -maxdepth 2 -name git)" ] || fail "there is no cache"
}

case_a_ref_that_moved_is_said_and_a_commit_needs_no_network() {
	local first second
	repository devcontainer.json "$image"
	first=$(git rev-parse HEAD)
	reads "$role@main"
	says_not "was at commit"
	echo '{"image": "debian:13"}' >devcontainer.json
	again
	second=$(git rev-parse HEAD)
	deck role show "$role@main"
	says "main was at commit $first when it was fetched last, and is at $second now"
	says "debian:13"
	deck role show "$role@main"
	says_not "was at commit"
	mv "$role/.git" "$root/away"
	refuses 2 "has no Git directory" "$role@main"
	reads "$role@$first"
	reads "$role@$second"
}

# It is in what the role is made of, whatever the commit is.
case_trust_is_in_a_place_of_the_repository() {
	repository devcontainer.json "$image" other x
	deck role trust "$role@main"
	[ "$status" = 0 ] || fail "trust: $(<"$root/err")"
	deck role list
	says "$role#devcontainer.json"
	deck role untrust "$role#devcontainer.json"
	[ "$status" = 0 ] || fail "untrust: $(<"$root/err")"
	deck role list
	says_not "$role"
}

case_a_context_may_be_the_whole_repository() {
	repository .devcontainer/Dockerfile 'FROM debian:12' \
		.devcontainer/devcontainer.json '{"build": {"dockerfile": "Dockerfile", "context": ".."}}'
	chmod +x .devcontainer/Dockerfile
	ln -s .devcontainer/Dockerfile link
	again
	deck role show --json "$role@main"
	[ "$status" = 0 ] || fail "status $status: $(<"$root/err")"
	file=$(sed -n 's/^ *"dockerfile": "\(.*\)",$/\1/p' <<<"$out")
	[ -x "$file" ] && [ "$(<"${file%/.devcontainer/*}/link")" = 'FROM debian:12' ] || fail "what is laid out: $file"
}

case_what_is_no_place_is_refused() {
	repository devcontainer.json "$image"
	refuses 64 "behind @ comes" "$role@-x"
	refuses 64 "behind @ comes" "$role@a..b"
	refuses 64 "behind @ comes" "$role@"
	refuses 64 "behind @ comes" "$role@--upload-pack=$run_it"
	refuses 64 "behind # comes" "$role#../x"
	refuses 64 "behind # comes" "$role#/etc"
	refuses 1 "no such branch or tag" "$role@gone"
	refuses 1 "no such branch or tag" "$role@${canary::7}"
	refuses 2 "is no directory" "$role#gone"
	refuses 2 "is no directory" "$root/gone"
	refuses 64 "no password" "https://me:secret@example.com/x"
	refuses 64 "or token" "https://secret@example.com/x"
	says_not secret
	git tag a-blob "$(blob x)"
	refuses 1 "" "$role@a-blob"
}

# It runs, and nothing is written over a file.
case_a_role_that_is_created_runs() {
	local file
	deck role create "$root/new"
	[ "$status" = 0 ] || fail "create: $(<"$root/err")"
	reads "$root/new"
	says "$root/new/.devcontainer/devcontainer.json: runs"
	deck role create "$root/new"
	says "nothing is written over it"
	for file in .devcontainer.json devcontainer.json .devcontainer/Dockerfile; do
		rm -rf "$root/new"
		mkdir -p "$root/new/.devcontainer"
		echo mine >"$root/new/$file"
		deck role create "$root/new"
		[ "$status" = 1 ] && [ "$(<"$root/new/$file")" = mine ] || fail "$file: status $status"
		[ "$(find "$root/new" -type f | wc -l)" = 1 ] || fail "$file: others are there"
	done
	# A repository can have a link there.
	mkdir "$root/elsewhere" "$root/linked"
	ln -s ../elsewhere "$root/linked/.devcontainer"
	deck role create "$root/linked"
	[ "$status" = 1 ] || fail "through a link: status $status"
	says "must be a directory"
	[ -z "$(ls -A "$root/elsewhere")" ] || fail "it was written through a link"
	mkdir -p "$root/a\"b"
	deck role create "$root/a\"b"
	reads "$root/a\"b"
}

case_a_diff_is_with_what_is_trusted() {
	repository Dockerfile 'FROM debian:12' devcontainer.json '{"build": {"dockerfile": "Dockerfile"}}'
	deck role diff "$role@main"
	[ "$status" = 1 ] || fail "not trusted: $status"
	says "do not trust it yet"
	deck role trust "$role@main"
	deck role diff "$role@main"
	[ "$status" = 0 ] || fail "the same: $status"
	echo 'FROM evil' >Dockerfile
	again
	deck role diff "$role@main"
	[ "$status" = 1 ] || fail "changed: $status"
	says "-FROM debian:12"
	says "+FROM evil"
	deck role diff --json "$role@main"
	says '"trust": "changed"'
	git checkout -q HEAD~1 -- Dockerfile
	echo x >other
	again
	deck role diff "$role@main"
	says "in another file"
}

case_the_examples_are_roles() {
	local example
	for example in "${top_srcdir:-$(dirname "$0")/../..}"/examples/roles/*; do
		reads "$example"
	done
}

# ---- repositories that attack git ------------------------------------------------------------------

case_hooks_and_settings_of_a_repository() {
	repository devcontainer.json "$image"
	local hook
	for hook in pre-commit post-checkout reference-transaction post-update pre-receive update fsmonitor-watchman pre-auto-gc; do
		printf '#!/bin/sh\n%s\n' "$run_it" >".git/hooks/$hook"
		chmod +x ".git/hooks/$hook"
	done
	git config core.hooksPath .git/hooks
	git config core.fsmonitor "$run_it"
	git config core.sshCommand "$run_it"
	git config core.pager "$run_it"
	git config core.alternateRefsCommand "$run_it"
	git config uploadpack.packObjectsHook "$run_it;:"
	git config credential.helper "!$run_it"
	git config alias.upload-pack "!$run_it"
	reads "$role@main"
}

# The user's template and hooks, which hostile settings of another program may have filled.
case_hooks_of_the_user() {
	mkdir -p "$root/template/hooks"
	printf '#!/bin/sh\n%s\n' "$run_it" >"$root/template/hooks/reference-transaction"
	chmod +x "$root/template/hooks/reference-transaction"
	repository devcontainer.json "$image"
	git config --global init.templateDir "$root/template"
	git config --global core.hooksPath "$root/template/hooks"
	reads "$role@main"
}

case_filters_and_attributes() {
	repository devcontainer.json "$image" .gitattributes '* filter=evil text eol=crlf ident export-subst
secret export-ignore' secret '$Id$ $Format:%H$'
	git config --global filter.evil.smudge "$run_it; cat"
	git config --global filter.evil.process "$run_it"
	git config --global filter.evil.required true
	reads "$role@main"
	file=$(find "$root/deck/roles.cache" -name secret)
	[ "$(<"$file")" = '$Id$ $Format:%H$' ] || fail "the content has changed: $(<"$file")"
}

case_submodules() {
	repository devcontainer.json "$image" .gitmodules "[submodule \"x\"]
	path = x
	url = ext::sh -c $run_it% %S
	update = !$run_it"
	git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),x"
	git commit -q -m submodule
	git config --global protocol.allow always
	git config --global submodule.recurse true
	git config --global fetch.recurseSubmodules true
	reads "$role@main"
	[ -d "$(find "$root/deck/roles.cache" -name x)" ] || fail "no directory x"
}

case_urls_that_run_programs() {
	git config --global protocol.allow always
	refuses 64 "a role comes from" "ext::sh -c '$run_it'"
	refuses 64 "a role comes from" "ext::$run_it"
	refuses 64 "a role comes from" "fd::0"
	refuses 64 "a role comes from" "http://example.com/x"
	refuses 64 "a role comes from" "git://example.com/x"
	refuses 64 "a role comes from" "file://host/x"
	refuses 64 "names its host" "ssh://-oProxyCommand=x/x"
	refuses 64 "names its host" "ssh://a@-oProxyCommand=x/x"
	refuses 64 "names its host" "a@-oProxyCommand=x:x"
}

# Another protocol than that of the URL, which settings of the user can lead to.
case_no_other_protocol_is_spoken() {
	repository devcontainer.json "$image"
	git config --global protocol.allow always
	git config --global "url.ext::sh -c $run_it #.insteadOf" https://evil.example/
	git config --global "url.$role.insteadOf" https://local.example/
	refuses 1 "not allowed" https://evil.example/x
	refuses 1 "not allowed" https://local.example/
}

# A program of the user's that would ask for a password, which this server demands.
case_nobody_is_asked_for_a_password() {
	local port server
	printf '#!/bin/sh\n%s\n' "$run_it" >"$root/asks"
	chmod +x "$root/asks"
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 1 -keyout "$root/key" -out "$root/cert" 2>/dev/null
	python3 - "$root" <<'END' &
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Basic realm=x")
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/cert", sys.argv[1] + "/key")
server.socket = context.wrap_socket(server.socket, server_side=True)
open(sys.argv[1] + "/port", "w").write(str(server.server_address[1]))
server.serve_forever()
END
	server=$!
	until_done test -s "$root/port"
	port=$(<"$root/port")
	git config --global http.sslVerify false
	git config --global core.askPass "$root/asks"
	refuses 1 "terminal prompts disabled" "https://127.0.0.1:$port/x"
	kill "$server"
}

# Git in a repository that lacks an object can ask another for it, with a command of its settings.
case_a_repository_that_fetches_what_it_lacks() {
	repository devcontainer.json "$image"
	local object
	object=$(git rev-parse HEAD:devcontainer.json)
	git config core.repositoryFormatVersion 1
	git config extensions.partialClone evil
	git config remote.evil.promisor true
	git config remote.evil.url "$root/nothing"
	git config remote.evil.uploadpack "$run_it;:"
	rm -f ".git/objects/${object::2}/${object:2}"
	refuses 1 "" "$role@main"
}

case_a_repository_that_leads_elsewhere() {
	local attack
	git init -q -b main "$root/private"
	git -C "$root/private" commit -q --allow-empty -m secret
	for attack in 'echo "$root/private/.git" >.git/commondir' \
		'mkdir -p .git/objects/info && echo "$root/private/.git/objects" >.git/objects/info/alternates' \
		'rm -rf .git && echo "gitdir: $root/private/.git" >.git' \
		'rm -rf .git && ln -s "$root/private/.git" .git' \
		'ln -s "$root/private/.git/refs/heads/main" .git/refs/heads/taken' \
		'rm -rf .git && mkdir .git && cp "$root/private/.git/HEAD" . && ln -s "$root/private/.git/objects" "$root/private/.git/refs" .'; do
		rm -rf "$role"
		repository devcontainer.json "$image"
		eval "$attack"
		refuses 1 "leads elsewhere" "$role@main"
	done
	rm -rf "$role"
	git clone -q --bare "$root/private" "$role"
	echo "$root/private/.git/objects" >"$role/objects/info/alternates"
	refuses 1 "leads elsewhere" "$role@main"
}

# ---- trees that attack who lays them out ---------------------------------------------------------

case_links_out_of_the_tree() {
	local target
	for target in /etc/passwd ../out d/../../out ./../out; do
		rm -rf "$role"
		repository devcontainer.json "$image" d/x x
		ln -s "$target" link
		again
		refuses 1 "leads out of the repository" "$role@main"
	done
	# Each of these two is inside; together they are not.
	rm -rf "$role"
	repository devcontainer.json "$image" d/x x a/b/y y
	ln -s ../../d a/b/x
	ln -s x/../.. a/b/link
	again
	refuses 1 "leads out of the repository" "$role@main"
	# The Dockerfile, too.
	rm -rf "$role"
	repository devcontainer.json '{"build": {"dockerfile": "Dockerfile"}}'
	ln -s /etc/passwd Dockerfile
	again
	refuses 1 "leads out of the repository" "$role@main"
	[ -z "$(find "$root/deck/roles.cache" -type l)" ] || fail "a link is left"
}

case_names_that_are_no_names() {
	local name object
	repository devcontainer.json "$image"
	object=$(blob "$image")
	for name in .. . .git .GIT 'x\x1b[2Jy' 'x\ny'; do
		commit_tree "$(tree "100644 $name $object")"
		refuses 1 "no name for a file" "$role@main"
		says_not $'\e'
	done
	commit_tree "$(tree "40000 .. $(tree "100644 x $object")")"
	refuses 1 "no name for a file" "$role@main"
	commit_tree "$(tree "40000 .git $(tree "100644 config $object")")"
	refuses 1 "no name for a file" "$role@main"
}

# A link, and a directory of its name: git's index has only one of them.
case_one_name_twice() {
	local object link
	repository devcontainer.json "$image"
	object=$(blob x)
	link=$(blob ..)
	mkdir "$root/out"
	commit_tree "$(tree "120000 a $(blob "$root/out")" "40000 a $(tree "100644 x $object")")"
	refuses 1 "leads out of the repository" "$role@main"
	commit_tree "$(tree "40000 d $(tree "120000 a $link" "40000 a $(tree "100644 x $object")")")"
	refuses 1 "exists" "$role@main"
	commit_tree "$(tree "100644 a $object" "100644 a $(blob y)")"
	refuses 1 "exists" "$role@main"
	[ -z "$(ls -A "$root/out")" ] || fail "something is outside"
}

case_a_tree_without_end_and_a_file_that_is_huge() {
	local object i
	repository devcontainer.json "$image"
	object=$(blob x)
	i=$(tree "100644 a $object" "100644 b $object" "100644 c $object" "100644 d $object" "100644 e $object")
	for _ in {1..40}; do
		i=$(tree "40000 a $i" "40000 b $i" "40000 c $i" "40000 d $i" "40000 e $i")
	done
	commit_tree "$i"
	refuses 1 "has too much" "$role@main"
	i=$(head -c 70000000 /dev/zero | git hash-object -w --stdin)
	commit_tree "$(tree "100644 devcontainer.json $(blob "$image")" "100644 huge $i")"
	refuses 1 "has too much" "$role@main"
	[ -z "$(find "$root/deck/roles.cache" -name huge)" ] || fail "it is left"
}

# ---- files that attack their user ----------------------------------------------------------------

# Each line: what check says of it (its status and words), and the file.
hostile_files() {
	cat <<'END'
0|initializeCommand|{"image": "x", "initializeCommand": "RUN"}
0|initializeCommand|{"image": "x", "initializeCommand": ["touch", "ROOT/ran"]}
0|initializeCommand|{"image": "x", "initializeCommand": {"a": "RUN", "b": ["sh", "-c", "RUN"]}}
1|socket|{"image": "x", "mounts": ["type=bind,source=/var/run/docker.sock,target=/s"]}
1|socket|{"image": "x", "mounts": ["type=bind,source=/run/user/0/podman/podman.sock,target=/s"]}
1|without colons and dots|{"image": "x", "mounts": ["type=bind,source=/tmp/../var/run/docker.sock,target=/s"]}
1|socket|{"image": "x", "mounts": [{"type": "bind", "source": "/", "target": "/host"}]}
1|socket|{"image": "x", "runArgs": ["-v", "/var/run/docker.sock:/s"]}
1|socket|{"image": "x", "runArgs": ["--mount=type=bind,src=/proc,dst=/p"]}
1|privileged|{"image": "x", "privileged": true}
1|runArgs|{"image": "x", "runArgs": ["--privileged"]}
1|runArgs|{"image": "x", "runArgs": ["--device=/dev/sda"]}
1|runArgs|{"image": "x", "runArgs": ["--pid=host"]}
1|network|{"image": "x", "runArgs": ["--network=host"]}
1|runArgs|{"image": "x", "runArgs": ["--security-opt", "seccomp=unconfined"]}
1|runArgs|{"image": "x", "runArgs": ["-e", "SECRET_TOKEN"]}
1|runArgs|{"image": "x", "runArgs": ["--env-file=/etc/environment"]}
1|capability|{"image": "x", "capAdd": ["ALL"]}
1|capability|{"image": "x", "capAdd": ["SYS_ADMIN"]}
1|securityOpt|{"image": "x", "securityOpt": ["apparmor=unconfined"]}
0|SECRET_TOKEN|{"image": "x", "containerEnv": {"A": "${localEnv:SECRET_TOKEN}"}}
1|localEnv|{"image": "x${localEnv:SECRET_TOKEN}"}
1|localEnv|{"image": "x", "mounts": ["type=bind,source=${localEnv:SECRET_TOKEN},target=/t"]}
1|localEnv|{"build": {"dockerfile": "Dockerfile", "args": {"A": "${localEnv:SECRET_TOKEN}"}}}
1|options|{"build": {"dockerfile": "Dockerfile", "options": ["--secret=id=x,src=/etc/shadow"]}}
1|features|{"image": "x", "features": {"ghcr.io/evil/f:1": {}}}
1|dockerComposeFile|{"dockerComposeFile": "c.yml", "service": "a"}
1|which is not in|{"build": {"dockerfile": "../Dockerfile"}}
1|below the role|{"build": {"dockerfile": "/etc/passwd"}}
1|which is not in|{"build": {"dockerfile": "Dockerfile", "context": "../.."}}
1|below the role|{"build": {"dockerfile": "Dockerfile", "context": "/etc"}}
0|033[2J|{"image": "x", "name": "a\u001b[2Jb", "\u001b[2J": 1}
END
}

# Directory and repository are judged alike, nothing runs, and no secret is in what it would get.
case_files_that_attack_their_user() {
	local expected words text number=0 files=(Dockerfile 'FROM debian:12')
	while IFS='|' read -r expected words text; do
		text=${text//RUN/$run_it} number=$((number + 1))
		files+=("$number/Dockerfile" 'FROM debian:12' "$number/devcontainer.json" "${text//ROOT/$root}")
	done < <(hostile_files)
	repository "${files[@]}"
	number=0
	while IFS='|' read -r expected words text; do
		number=$((number + 1))
		refuses "$expected" "$words" "$role/$number"
		deck role show --json "$role@main#$number"
		says "$words"
		says_not "$canary"
		says_not $'\e'
		quiet
		[[ $out != *'.sock:'* && $out != *'"cap_add": ["'* && $out != *'"/:'* ]] || fail "$text: $out"
	done < <(hostile_files)
}

run_cases "$@"
