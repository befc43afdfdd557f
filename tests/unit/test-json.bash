#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-json.bash - what each command prints with --json is what data/schema/agentdeck.json says
#
# USAGE
#   test-json.bash    agentdeck and its helpers are found in PATH
#
# It walks through the table of commands: one with --json that is not run here fails, and so does one
# that the schema does not describe, and a member that is not in it or not where docs/json.md has the
# command.  Sessions are made without systemd, in scratch directories.
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no tmux, or no jsonschema for python3
#
set -uo pipefail
export LC_ALL=C.UTF-8

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
schema=$source_dir/data/schema/agentdeck.json
command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
# Debian's jsonschema belongs to the system's python3.
python=python3
"$python" -c 'import jsonschema' 2>/dev/null || python=/usr/bin/python3
"$python" -c 'import jsonschema' 2>/dev/null || { echo "skipped: python3 has no jsonschema"; exit 77; }
check() { "$python" "$source_dir/tests/helper/check-json" "$schema" "$@"; }

root=$(mktemp -d /tmp/agentdeck-json-XXXXXX) || exit
failures=0 ran=$'\n' count=0

fail() {
	echo "FAILED $*"
	failures=$((failures + 1))
}

mkdir "$root/held" "$root/user" "$root/tmp" "$root/work" "$root/other"
mkdir -m 700 "$root/deck"
printf '[tmux]\nlaunch_in_user_scope = false\nlinger = false\n' >"$root/deck/config.toml"
cd "$root/work" || exit 1
unset TMUX XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME AGENTDECK_PROFILE AGENTDECK_INSTANCE AGENTDECK_INSTANCE_ID AGENTDECK_DEMO_CONFIG_DIR
export AGENTDECK_HOME=$root/deck HOME=$root/user TMPDIR=$root/tmp SHELL=/bin/sh

# The forms of --json, as the help says: value or lines.  With FORM: that one.
form_of() {
	[ -z "${FORM-}" ] || { echo "$FORM"; return; }
	# shellcheck disable=SC2086 # one or two words
	case $(agentdeck help $1 | grep -m 1 -E '^ +--json +print JSON') in
	*'JSON: one object on each line'*) echo lines ;;
	*'JSON: one value'*) echo value ;;
	*) echo "which is not said" ;;
	esac
}

# held NAME [FORM]: what is in $root/out is what the schema says of the command.  It is checked at the end, with all
# others: each start of the checker costs more than what it checks.
held() {
	count=$((count + 1))
	{ printf '%s\t%s\n' "$1" "${2-$(form_of "$1")}" && cat "$root/out"; } >"$root/held/$(printf '%04d' $count)"
	ran+=$1$'\n'
}

# holds STATUS NAME [WORD...]: a command (its name, then words) ends so, and prints what the schema says.
# What its standard error says of progress is held, too.
progress=0
holds() {
	local expected=$1 name=$2 status
	shift 2
	# shellcheck disable=SC2086 # one or two words
	agentdeck $name --json "$@" >"$root/out" 2>"$root/err" </dev/null
	status=$?
	[ "$status" = "$expected" ] || fail "$name $*: status $status: $(<"$root/err") $(head -c 500 "$root/out")"
	held "$name"
	[[ $(<"$root/err") == *'"event":"progress"'* ]] || return 0
	progress=$((progress + 1))
	{ printf 'progress\tlines\n' && grep '^{' "$root/err"; } >"$root/held/progress-$progress"
}

# --- the names -------------------------------------------------------------------------------------

problems=$(check --rules "$source_dir/docs/json.md") || fail "$problems"

# --- one session after the other -----------------------------------------------------------------------

agentdeck --version --json >"$root/out"
held version value

holds 0 list
holds 0 add . -t one --agent demo -g work
holds 0 add . -t damaged --agent demo
damaged=$(sed -n 's/^  "id": "\(.*\)",$/\1/p' "$root/out")
holds 0 launch "$root/other" -t two --agent demo -m 'hello there'
holds 0 'session start' one
holds 0 'session start' one
agentdeck status --wait idle --timeout 30 one two >/dev/null || fail "one and two are not idle"
holds 0 status
holds 0 status --wait idle,stopped
holds 0 'session send' one 'remember me'
agentdeck status --wait idle --timeout 30 one >/dev/null || fail "one is not idle"
holds 1 'session send' damaged hello
holds 0 'session send' one --when-idle 'and me'
holds 0 'session send' one --when-idle 'and me, too'
holds 0 'session queue' one
holds 0 'session queue' one --cancel all
holds 0 'session queue' one
for verb in approve deny; do
	holds 1 "session $verb" one
	agentdeck send one '/run make' >/dev/null || fail "it does not run"
	agentdeck status --wait waiting --timeout 30 one >/dev/null || fail "one does not ask"
	holds 0 "session $verb" one
	holds 0 "session $verb" one --yes
	agentdeck send one 'enough' >/dev/null || fail "it does not go on after $verb"
	agentdeck status --wait idle --timeout 30 one >/dev/null || fail "one is not idle"
done
holds 0 'session output' one
holds 0 'session output' one --pane
holds 0 'session output' one --turns 3
holds 0 'session look' one
holds 0 search ME 'no such word'
grep -q '^ *"me"$' <<<"$(grep -A 1 '"words": \[$' "$root/out")" || fail "search: $(<"$root/out")"
grep -q '  one$' <<<"$(agentdeck search Remember me)" || fail "search: $(agentdeck search remember me)"
[ -z "$(agentdeck search me nothing)" ] || fail "search: not every word"
holds 64 search ' '
holds 0 'session show' one
holds 0 'session path' one
holds 0 'session address' one
holds 1 'session changes' one
( cd "$root/work" && git init -q -b main && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one )
holds 0 add "$root/work" --worktree -t changed --agent demo
printf 'u\n' >"$(agentdeck path changed)/new"
{ agentdeck start changed && agentdeck stop changed; } >/dev/null || fail "changed did not run"
holds 0 list
grep -q '"uncommitted": 1' <<<"$(grep -A 5 '"work": {' "$root/out")" || fail "stop: $(<"$root/out")"
table=$(agentdeck list --no-trunc)
[[ $table = *' WORK'*'0 commits, 1 open ('*' ago)'* ]] || fail "list: $table"
holds 0 'session changes' changed --diff
grep -q '"path": "new"' "$root/out" || fail "changes: $(<"$root/out")"
( cd "$(agentdeck path changed)" && git add new && git -c user.name=a -c user.email=a@b commit -q -m new )
holds 0 'session merge' changed
[ "$(git -C "$root/work" log -1 --format=%s)" = new ] || fail "merge: $(<"$root/out")"
git init -q --bare "$root/remote" && git -C "$root/work" remote add origin "$root/remote"
holds 0 'session push' changed
holds 64 'session changes' changed changed
holds 0 'session show' changed
grep -q '"merged": "yes"' <<<"$(grep -A 5 '"work": {' "$root/out")" || fail "show: $(<"$root/out")"
grep -q '"workspace": "worktree"' "$root/out" || fail "show: $(<"$root/out")"
holds 0 add "$root/work" --clone -t cloned --agent demo
holds 0 'session changes' cloned
holds 0 'session show' cloned
its_tree=$(agentdeck path cloned) && mv "$its_tree" "$root/moved"
holds 0 'session show' cloned
holds 0 list
mv "$root/moved" "$its_tree"
{ agentdeck remove cloned && agentdeck prune --force; } >/dev/null || fail "cloned is not removed"
holds 0 'session changes' changed
table=$(agentdeck changes changed changed)
[[ $table =~ 'FILE'\ +'changed'.*'(commits)'\ +'1, merged'.*'new'\ +'+1 -0' ]] || fail "changes: $table"
grep -q '"merged": "yes"' "$root/out" || fail "changes: $(<"$root/out")"
holds 1 'session merge' one
holds 1 'session push' one
holds 0 'session check' one
id=$(sed -n 's/^  "id": "\(.*\)",$/\1/p' "$root/out")
AGENTDECK_INSTANCE=$id holds 0 'session current'
# As an earlier version, and as agent-deck.
AGENTDECK_INSTANCE_ID=$id holds 0 'session current'
AGENTDECK_INSTANCE_ID=409a6ace-1795308038 AGENTDECK_PROFILE=elsewhere holds 2 'session current'
holds 2 'session current'
holds 0 'session fork' one -t three
holds 0 'session fork' one -t four --no-start
holds 0 'session set' four restart no
holds 0 'session export' four "$root/four.tar"
agentdeck remove four >/dev/null && agentdeck prune --force >/dev/null
holds 0 'session import' "$root/four.tar"
holds 1 'session move' four --abandon
agentdeck session move four --step leave --id 11111111-2222-4333-8444-555555555555 --to other >/dev/null || fail "four does not leave"
holds 0 'session move' four --abandon
holds 0 backup "$root/all.tar"
holds 0 restore "$root/all.tar"
holds 0 'session limit' four --memory-max 1G
holds 0 'session limit' four
holds 0 'session restart' two
holds 0 top
holds 0 settle start two
grep -q '"about": "nothing"' "$root/out" || fail "settle: $(<"$root/out")"
holds 64 settle start
holds 64 settle prune two
holds 64 settle never two
holds 2 settle start nosuch
holds 1 settle --answer fork --seen other start two
holds 0 once json-0123456789abc
agentdeck --once json-0123456789abd session set four notes changed >/dev/null || fail "it is not run once"
holds 0 once json-0123456789abd
grep -q '"status": 0' "$root/out" || fail "once: $(<"$root/out")"
holds 0 rename four five
holds 0 remove five
holds 0 prune --dry-run
holds 0 undo five
agentdeck remove five >/dev/null
holds 0 settle prune
holds 1 settle --answer clean --seen other prune
holds 0 prune --force
agentdeck add . -t purged --agent demo >/dev/null
holds 1 purge purged
grep -q '"consent": "--force"' <<<"$(grep -A 1 '"question": "Delete purged for good? ' "$root/out")" || fail "purge: $(<"$root/out")"
holds 0 purge purged --force
holds 0 'session stop' three
holds 0 'session stop' three
holds 1 'session eject' three
holds 0 'session archive' three
holds 0 'session unarchive' three
holds 0 settle launch "$root/work" --agent demo
grep -q '"--instead",$' "$root/out" || fail "settle launch: $(<"$root/out")"

printf '[session.declared]\nagent = "demo"\nmessage = "hello"\n' >agentdeck.toml
holds 1 diff
holds 0 up
holds 0 up
holds 0 diff
printf 'group = "work"\nmemory_max = "1G"\nworktree = true\n' >>agentdeck.toml
holds 1 diff
grep -q '"why": "correct the file' "$root/out" || fail "diff: $(<"$root/out")"
grep -q '"field": "memory_max"' "$root/out" || fail "diff: $(<"$root/out")"
holds 0 up --update
grep -q '"updated":\[{"field":"group","value":"work","note":null},{"field":"memory_max","value":"1G","note":"The limits ' "$root/out" ||
	fail "up --update: $(<"$root/out")"
holds 0 up --update
grep -q '"updated":\[\],"kept":\[{"difference":"tree: .*","why":"correct the file' "$root/out" || fail "up --update: $(<"$root/out")"
agentdeck down >/dev/null
echo 'cmd = "nosuch"' >>agentdeck.toml
holds 1 up --update
grep -q '"success":false.*"updated":\[{"field":"command","value":"nosuch",' "$root/out" || fail "up --update: $(<"$root/out")"
holds 0 down
rm agentdeck.toml

holds 0 'group list'
holds 0 'group rename' work job
holds 1 'group remove' job
holds 0 'group remove' job --move
agentdeck -p spare add . -t spare --agent demo >/dev/null
holds 0 'profile list'
holds 1 'profile remove' spare
agentdeck -p spare remove spare >/dev/null && agentdeck -p spare prune --force >/dev/null
holds 0 'profile remove' spare

# Progress: a wait, what a setup says, and of which of several sessions.
holds 1 status --wait error --timeout 1
[ $progress = 1 ] || fail "status --wait tells no progress: $(<"$root/err")"
git init -q "$root/repo" && git -C "$root/repo" -c user.name=a -c user.email=a@b commit -qm one --allow-empty
printf '[workspace]\nsetup = ["sh", "-c", "echo the end; exit 3"]\n' >>"$root/deck/config.toml"
holds 0 add "$root/repo" -t tree --agent demo --worktree
holds 1 'session start' tree
grep -q '"text":"the end","is_failure":true,' "$root/err" || fail "the setup: $(<"$root/err")"
FORM=lines holds 1 'session start' tree one
grep -q '"text":"the end".*"title":"tree"' "$root/err" || fail "of several: $(<"$root/err")"
agentdeck remove --discard tree >/dev/null

# Several sessions.
FORM=lines holds 0 'session stop' one two
FORM=lines holds 0 'session start' one two
FORM=lines holds 1 'session send' -s two -s three hello

# A failure of a command that prints lines is a line, too.
holds 2 recover -p missing

# A notification, as a command of the user's reads it.
cp "$root/deck/config.toml" "$root/config"
printf '[notify]\ncommand = ["/bin/sh", "-c", "cat >>%s"]\non = ["idle"]\n' "$root/told" >>"$root/deck/config.toml"
agentdeck supervise >/dev/null 2>&1 &
supervisor=$!
for _ in $(seq 100); do
	grep -q '"active": true' <<<"$(agentdeck supervise --status --json 2>/dev/null)" && break
	read -rt 0.1 <> <(:) || true
done
agentdeck send one 'tell me' >/dev/null || fail "one was not sent a message"
for _ in $(seq 100); do
	[ -s "$root/told" ] && break
	read -rt 0.1 <> <(:) || true
done
kill "$supervisor" 2>/dev/null
wait "$supervisor" 2>/dev/null
cp "$root/told" "$root/out"
held notification lines
mv "$root/config" "$root/deck/config.toml"

# Events: a snapshot, its end, and a change.
timeout 20 agentdeck events --json >"$root/events" 2>"$root/err" &
follower=$!
for _ in $(seq 100); do
	grep -q snapshot_complete "$root/events" && break
	read -rt 0.1 <> <(:) || true
done
agentdeck rename three six >/dev/null
for _ in $(seq 100); do
	grep -q '"event":"changed"' "$root/events" && break
	read -rt 0.1 <> <(:) || true
done
kill "$follower" 2>/dev/null
wait "$follower" 2>/dev/null
cp "$root/events" "$root/out"
held events
# one may change, too: its turn has just ended
[[ $(sed 's/.*"event":"\([a-z_]*\)".*/\1/' "$root/events" | uniq -c | tr -s ' \n' ' ') = ' 6 snapshot 1 snapshot_complete '[12]' changed ' ]] ||
	fail "events: $(<"$root/events")"

# What was lost, and what cannot come back.
for title in one two; do
	pid=$(agentdeck session show "$title" --json | sed -n 's/^ *"server_pid": \([0-9]*\)$/\1/p')
	kill -9 "$pid"
	while kill -0 "$pid" 2>/dev/null; do :; done
done
rmdir "$root/other"
holds 0 list
holds 1 recover --dry-run
holds 1 recover
holds 2 'session start' two
holds 0 'session show' two
# Its agent ends at once.
mkdir "$root/other"
AGENTDECK_DEMO_EXIT_AT_START=3 agentdeck session start two --json >"$root/out" 2>/dev/null
held 'session start'
holds 0 'session show' two

agentdeck list --format json >"$root/out" || fail "list --format json: status $?"
held list
holds 0 'agents list'
holds 0 'agents show' claude
mkdir -m 700 "$root/deck/agents"
echo 'command = [' >"$root/deck/agents/broken.toml"
holds 1 'agents check'
rm -r "$root/deck/agents"
# It depends on this machine whether something is wrong.
agentdeck doctor --json >"$root/out" 2>/dev/null
held doctor
mkdir -p "$root/deck/default/trees/0aaaaaaa" && chmod 700 "$root/deck/default/trees" "$root/deck/default/trees/0aaaaaaa"
holds 0 doctor --fix --dry-run
holds 0 doctor --fix --force
[ ! -e "$root/deck/default/trees/0aaaaaaa" ] || fail "doctor --fix left an empty directory"
agentdeck supervise --status --json >"$root/out" 2>/dev/null
held supervise

mkdir -p "$root/role/.devcontainer" "$root/refused/.devcontainer"
printf '{"image": "x", "mounts": ["type=bind,source=/a,target=/b"], "postStartCommand": "a", "b": 1}\n' >"$root/role/.devcontainer/devcontainer.json"
holds 0 'role check' "$root/role"
holds 0 'role show' "$root/role"
holds 1 'role diff' "$root/role"
holds 0 'role create' "$root/created"
holds 0 'role trust' "$root/created"
holds 0 'role trust' "$root/role"
holds 0 'role list'
cp "$root/deck/config.toml" "$root/config"
printf '[hosts.gone]\nssh = "ssh://127.0.0.1:1"\n' >>"$root/deck/config.toml"
holds 0 'host list'
holds 69 'host check'
holds 0 'host rename' gone away
holds 0 'host remove' away
mkdir "$root/bin"
# It connects to this machine, whatever the host.
printf '#!/bin/sh\ncase " $* " in *" -fN "*) exit 0 ;; esac\nexec agentdeck serve --stdio\n' >"$root/bin/ssh"
chmod +x "$root/bin/ssh"
old_path=$PATH
PATH=$root/bin:$PATH
holds 0 'host add' gpu1
holds 0 'host check'
holds 0 'host login' gpu1
holds 0 'host logout' gpu1
printf '#!/bin/sh\ncase " $* " in *" get "*) cat %s ;; esac\n' "$root/statefulset" >"$root/bin/kubectl"
chmod +x "$root/bin/kubectl"
uid=6f1c2a94-0b52-4a57-9a30-5d0a9a3f7c11
printf '{"kind":"StatefulSet","metadata":{"name":"agents","uid":"%s"},"spec":{"replicas":1}}' "$uid" >"$root/statefulset"
printf '[hosts.agents]\nkubernetes = "agents"\ncontext = "lab"\nuid = "%s"\n' "$uid" >>"$root/deck/config.toml"
holds 1 'host stop' agents
holds 0 'host stop' agents --force
holds 0 'host start' agents
printf '#!/bin/sh\necho 7\n' >"$root/bin/sbatch"
printf '#!/bin/sh\n' >"$root/bin/squeue"
chmod +x "$root/bin/sbatch" "$root/bin/squeue"
holds 0 'host create' job --slurm
agentdeck start two >/dev/null || fail "two does not start"
holds 0 forward gpu1:two 39413
holds 0 forward --list
holds 1 forward gpu1:two 39413
holds 0 forward gpu1:two --stop
PATH=$old_path
mv "$root/config" "$root/deck/config.toml"
holds 0 'role untrust' "$root/role"
echo '{}' >"$root/refused/.devcontainer/devcontainer.json"
holds 1 'role check' "$root/refused"
holds 0 help
holds 0 help --all
holds 0 help session start
holds 0 help config
holds 64 help --man
holds 2 help nosuch
holds 0 'config path'
holds 0 'config get'
holds 0 'config get' tmux
holds 0 'config get' tmux.linger
holds 0 'config check'
holds 0 'config set' tmux.linger false
EDITOR=true VISUAL=true holds 0 'config edit'
cp "$root/deck/config.toml" "$root/config"
printf 'nothing = 1\n[tmux\n' >>"$root/deck/config.toml"
holds 1 'config check'
mv "$root/config" "$root/deck/config.toml"

# An agent outside of agentdeck.
tmux -S "$root/tmp/tmux" -f /dev/null new-session -d -c "$root/work" 'exec agentdeck-demo-agent'
pid=$(tmux -S "$root/tmp/tmux" list-panes -F '#{pane_pid}')
for _ in $(seq 100); do
	grep -q "\"pid\": $pid," <<<"$(agentdeck adopt --json 2>/dev/null)" && break
	read -rt 0.1 <> <(:) || true
done
holds 0 adopt
holds 0 adopt "$pid" --yes --fresh -t adopted
tmux -S "$root/tmp/tmux" kill-server 2>/dev/null

found=11111111-2222-4333-8444-555555555555
mkdir -p "$root/user/.claude/projects/${root//\//-}-work"
printf '{"type":"user","cwd":"%s","message":{"role":"user","content":"hello"}}\n' "$root/work" \
	>"$root/user/.claude/projects/${root//\//-}-work/$found.jsonl"
# One that begins with an image has no first words.
printf '{"type":"user","cwd":"%s","message":{"role":"user","content":[{"type":"image","source":{}}]}}\n' "$root/work" \
	>"$root/user/.claude/projects/${root//\//-}-work/22222222-2222-4333-8444-555555555555.jsonl"
holds 0 discover
grep -q '"first_words": null' "$root/out" || fail "discover: $(<"$root/out")"
holds 0 discover $found --add
holds 1 discover $found --add
holds 0 history hello
holds 64 history ' '

mkdir -p "$root/user/.agent-deck/profiles/default"
printf '{"instances":[{"id":"0a1b2c3d-1","title":"old","project_path":"%s","tool":"shell"}],"groups":[]}' \
	"$root/work" >"$root/user/.agent-deck/profiles/default/sessions.json"
holds 0 import
holds 0 import agent-deck --apply
holds 0 import agent-deck
mkdir -p "$root/user/.gemini"
echo '{' >"$root/user/.gemini/settings.json"
holds 1 import agent-deck --apply --remove-hooks
rm "$root/user/.gemini/settings.json"

echo '{' >"$root/deck/default/$damaged/instance.json"
holds 0 list
holds 64 list --bogus

# --- every command of the table ----------------------------------------------------------------------

names=()
while read -r name; do
	# shellcheck disable=SC2086 # one or two words
	grep -Eq '^ +--json +print JSON' <<<"$(agentdeck help $name)" || continue
	names+=("$name")
	[[ $ran == *$'\n'"$name"$'\n'* ]] || fail "$name has --json, and this test does not run it"
done < <(agentdeck help --man | sed -n 's/^\.SS "\(.*\)"$/\1/p')
problems=$(check --has "${names[@]}") || fail "$problems"
[ "${#names[@]}" -ge 20 ] || fail "only ${#names[@]} commands with --json"
problems=$(check --held "$root"/held/*) || fail "$problems"

for title in $(agentdeck list --json | sed -n 's/^ *"id": "\(.*\)",$/\1/p'); do
	agentdeck session stop "$title" >/dev/null 2>&1
done

# --- what only reads ---------------------------------------------------------------------------------

# Nothing runs now, so what is written is written by the command.
# The time at which a tree was seen is kept again after a minute, and saves only time.
state_of() {
	find "$root/deck" "$root/user" "$root/work" -name agentdeck.log -o -name instances.json -o -path "$seen" -o \
		-type d -printf '%p %m\n' -o -printf '%p %i %m %s %T@ %C@ %l\n' | sort
	"$python" -c '
import json, sys
manifest = json.load(open(sys.argv[1], encoding="utf-8"))
del manifest["workspace"]["seen"]["at"]
print(manifest)' "$seen"
}

# The words behind each command that reads, and behind each option that makes one read.
declare -A words=(
	[list]='' [status]='' ['session show']=one ['session path']=one ['session changes']=changed ['session check']=one
	['session current']='' ['session output']=one [history]=hello [search]=me [diff]='' [doctor]=''
	['agents list']='' ['agents show']=demo ['agents check']='' ['group list']=''
	['profile list']='' ['config path']='' ['config get']='' ['config check']='' ['config schema']='' [logs]=''
	[completion]=bash [help]='' [skill]='' ['recover --dry-run']='' ['prune --dry-run']=''
	['adopt --dry-run']='' ['supervise --status']='' ['role check']=../role ['role show']=../role ['role diff']=../created ['role list']=''
	['host list']='' ['host check']='' ['host manifest']='agents --kubernetes --image a' ['session address']=one ['forward --list']=''
)
export AGENTDECK_INSTANCE=$id
printf '[session.one]\nagent = "demo"\n' >agentdeck.toml
agentdeck remove "$damaged" >/dev/null || fail "the damaged one stays"
agentdeck list >/dev/null
readers=$(agentdeck help --json | "$python" -c '
import json, sys
for command in json.load(sys.stdin):
    options = [("{name} --%s" % one["name"], one["kind"]) for one in command["options"]]
    for name, kind in [("{name}", command["kind"]), *options]:
        if kind == "reads":
            print(name.format(**command))')
agentdeck changes changed >/dev/null || fail "changes changed"
seen=$(grep -rl --include=instance.json '"seen"' "$root/deck")
before=$(state_of)
while read -r name; do
	[ "${words[$name]+set}" ] || { fail "$name reads, and this test does not run it"; continue; }
	# shellcheck disable=SC2086 # words
	agentdeck $name ${words[$name]} >"$root/out" 2>&1 </dev/null
	status=$?
	# What doctor and diff find, and that no supervisor runs, is theirs to say.
	case $name,$status in
	*,0 | doctor,1 | diff,1 | 'supervise --status,3') ;;
	*) fail "$name: status $status: $(<"$root/out")" ;;
	esac
	now=$(state_of)
	[ "$now" = "$before" ] || fail "$name reads, and has changed: $(diff <(echo "$before") <(echo "$now"))"
	before=$now
done <<<"$readers"
[ "$(wc -l <<<"$readers")" = "${#words[@]}" ] || fail "what reads: $readers"

# --- the end -----------------------------------------------------------------------------------------

cd / || exit 1
if [ "$failures" = 0 ]; then
	rm -rf "$root"
	echo "ok: $count commands"
	exit 0
fi
echo "$failures failures; what was made is in $root"
exit 1
