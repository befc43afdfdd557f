#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# verify-session-persistence.sh - watch sessions outlive a logout and resume their conversation
#
# USAGE
#   bash scripts/verify-session-persistence.sh [OPTION...]
#
# Run this after any installation, in a terminal or in CI, as the user whose sessions matter. It
# verifies the agentdeck that is first in PATH. It starts a session, ends the login that started it,
# stops it and kills it. Each time it looks at what the kernel and tmux say about the session, not
# at what agentdeck says about itself.
#
# Everything happens below one scratch directory, with its own configuration, tmux servers and
# conversations, and everything is removed afterwards. It neither uses nor changes your sessions,
# servers and settings, or the lingering of your user manager.
#
#   --agent NAME      the agent of the session. Without this option, the script chooses one, and
#                     says which and why. It takes claude if claude is in your PATH and starts
#                     without a question (a login, trust in the directory). It then uses claude with
#                     your own login and settings, for what needs no conversation: scenarios 1 to 3,
#                     and its stop. It sends nothing to claude's model. For the rest it uses demo, a
#                     stand-in that comes with agentdeck and needs no model, login or network. It
#                     uses demo for everything if claude is not installed or does not start.
#                     If you name claude or another agent of yours here, that agent does everything.
#                     It then gets one short message: a request to its model, which may cost money.
#                     What it cannot do fails; no stand-in replaces it. The script removes its
#                     transcript. Other notes of the agent stay, such as a history of prompts. The
#                     agent must take --session-id and --resume. With --agent demo, the stand-in
#                     does everything.
#   --directory DIR   where to make the session's directory (empty, and removed at the end). Give a
#                     directory that the agent trusts. The default is the temporary directory.
#                     There, claude asks whether to trust it, and nobody answers.
#   --login WHAT      what the logout ends:
#                       ssh     a real login: "ssh localhost" by key, ended with
#                               "loginctl terminate-session"
#                       scope   a scope made with "systemd-run --user --scope", ended with
#                               "systemctl --user stop"
#                       auto    ssh for the stand-in, where that works without a question; else
#                               scope, in which the agent has the environment of your terminal
#                               (default)
#   --keep            keep the directory, so that you can look into it
#   --list            print the list of scenarios and end
#   -h, --help        this text
#
# A shell in that login starts the session, and also a control: another session, with isolation
# switched off. The shell must be in the login's cgroup, and the logout must kill the control.
# Otherwise the logout proves nothing, and counts as failed.
#
# Without a user manager of systemd, scenarios 1 and 2 are skipped, and all others are verified.
#
# The last line is "N passed, N failed", followed by ", N skipped" when some were skipped.
#
# ENVIRONMENT
#   AGENTDECK_TEST_STRICT=1   a skip is a failure (CI)
#   TMPDIR                    where to make the directory (/tmp)
#   NO_COLOR                  no colours
#
# EXIT STATUS
#   0 everything that could be verified is true; 1 something is not, or nothing could be verified;
#   2 wrong usage
#
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

STRICT=${AGENTDECK_TEST_STRICT-}
readonly STRICT SHORT=20 LONG=90	# seconds that a machine or an agent may take for one step
SCENARIOS=(
	"isolation|the tmux server is in its own scope, below your user manager and not in a login"
	"logout|the login that started the session ends, and the session does not notice"
	"fresh start|a new conversation is started with --session-id, not with --resume"
	"stop and start|the conversation comes back, with --resume and the same id"
	"kill -9|so it does after the tmux server was killed"
	"lost sidecar|and without the note of the id that the agent's hooks keep"
	"log|the log tells how the session was isolated and resumed"
	"stop|session stop leaves no process behind"
)
readonly SCENARIOS

# ---- options -------------------------------------------------------------------------------------

AGENT='' WHY_AGENT='as you asked' MAY_SEND=1 PARENT='' LOGIN=auto KEEP=''

usage() { echo "${0##*/}: $* (see --help)" >&2; exit 2; }

list_scenarios() {
	local i
	for i in "${!SCENARIOS[@]}"; do
		printf '  %d  %-15s %s\n' $((i + 1)) "${SCENARIOS[i]%%|*}" "${SCENARIOS[i]#*|}"
	done
}

while (($#)); do
	case $1 in
	--agent | --directory | --login) (($# > 1)) || usage "$1 needs a value" ;;&
	--agent) AGENT=$2; shift ;;
	--directory) PARENT=$2; shift ;;
	--login) LOGIN=$2; shift ;;
	--keep) KEEP=1 ;;
	--list) list_scenarios; exit 0 ;;
	-h | --help) manual; exit 0 ;;
	*) usage "unknown option $1" ;;
	esac
	shift
done
case $LOGIN in
auto | ssh | scope) ;;
*) usage "--login is auto, ssh or scope, not $LOGIN" ;;
esac
[[ -z $PARENT || -d $PARENT ]] || usage "$PARENT is not a directory"

# ---- results -------------------------------------------------------------------------------------

PASSED=0 FAILED=0 SKIPPED=0 NOT_PASSED=() REASON=''

no() { REASON=$*; return 1; }
cannot() { REASON=$*; return 77; }
say() { printf '    %-9s %s\n' "$1" "$2"; }
last_line() { tail -n 1 -- "$1" 2>/dev/null | sed 's/^agentdeck: //'; }

nothing_verified() {
	printf '\n%s[FAIL] nothing could be verified: %s%s\n' "$RED$BOLD" "$*" "$PLAIN"
	printf '0 passed, 1 failed\n'
	exit 1
}

scenario() {	# NUMBER FUNCTION
	local name=${SCENARIOS[$1 - 1]%%|*} status=0
	printf '\n%s%d  %s%s: %s\n' "$BOLD" "$1" "$name" "$PLAIN" "${SCENARIOS[$1 - 1]#*|}"
	REASON=''
	"$2" || status=$?
	if ((status == 0)); then
		PASSED=$((PASSED + 1))
		printf '%s[PASS]%s %d %s\n' "$GREEN$BOLD" "$PLAIN" "$1" "$name"
		return 0
	fi
	NOT_PASSED+=("$1 $name")
	if ((status == 77)) && [[ $STRICT != 1 ]]; then
		SKIPPED=$((SKIPPED + 1))
		printf '%s[SKIP %s]%s %d %s\n' "$YELLOW$BOLD" "$REASON" "$PLAIN" "$1" "$name"
		return 0
	fi
	FAILED=$((FAILED + 1))
	((status != 77)) || REASON="skipped, which is a failure here: $REASON"
	printf '%s[FAIL]%s %d %s: %s\n' "$RED$BOLD" "$PLAIN" "$1" "$name" "${REASON:-unexpected status $status}"
}

# ---- processes -----------------------------------------------------------------------------------

wait_for() {	# SECONDS COMMAND...
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS <= end)) || return 1
		sleep 0.1
	done
}

# Together with its pid, this identifies a process among all earlier and later ones. It prints
# nothing for a process that has ended.
start_time() {	# PID
	local stat fields
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	read -ra fields <<<"${stat##*) }"
	[[ ${fields[0]} != [ZX] ]] || return 1
	printf '%s\n' "${fields[19]}"
}
is_alive() { [[ $(start_time "$1") == "$2" ]]; }	# PID START_TIME
is_gone() { ! is_alive "$@"; }

# The cgroup of v2 or, where v2 is missing, systemd's own of v1.
cgroup_of() {	# PID, or a FILE with its cgroups
	local file=$1
	[[ $file == */* ]] || file=/proc/$file/cgroup
	awk -F : '
		$1 == 0 { path = substr($0, 4) }
		$2 == "name=systemd" && path == "" { path = substr($0, index($0, "systemd:") + 8) }
		END { print path }' "$file" 2>/dev/null
}

processes_of() {	# AGENTDECK_HOME
	{ grep -lzFx "AGENTDECK_HOME=$1" /proc/[0-9]*/environ 2>/dev/null || :; } | tr -cd '0-9\n'
}

# ---- the session, and the control ----------------------------------------------------------------

# The agent gets a child that a careless stop would leave behind: it ignores signals and has its own
# process session. The run in the login has no such child, since the end of a login waits for one.
deck() { timeout --foreground --kill-after=5 "$LONG" env "${DECK_ENV[@]}" AGENTDECK_DEMO_LEAVE_CHILD=1 agentdeck "$@"; }
control() { timeout --foreground --kill-after=5 "$LONG" env "${CONTROL_ENV[@]}" agentdeck "$@"; }
tmux_of() { timeout "$SHORT" tmux -u -S "$@" 2>/dev/null; }	# SOCKET COMMAND...

# agentdeck prints JSON with one member per line.
member() {	# NAME FILE
	sed -n '/^ *"'"$1"'": /{s/^[^:]*: "\{0,1\}//;s/"\{0,1\},\{0,1\}$//;s/^null$//;p;q}' "$2"
}

# Why a command failed. Its outputs are in NAME.json and NAME.err.
said() {	# NAME
	local text
	text=$(member error "$T/$1.json" 2>/dev/null) || :
	[[ -n $text ]] || text=$(last_line "$T/$1.err")
	printf '%s' "${text:-it does not say why}"
}

SESSION='' SESSION_ID='' SOCKET='' SERVER='' SERVER_START='' AGENT_PID='' AGENT_START='' STATUS_NOW='' ARGV=()
START_ERROR='' TURNS=0 RESUMES=0

look_at_agentdeck() {
	deck session show "$SESSION" --json >"$T/show.json" 2>"$T/show.err" ||
		{ no "agentdeck session show: $(said show)"; return; }
	STATUS_NOW=$(member status "$T/show.json")
	SOCKET=$(member socket "$T/show.json")
}

# The processes as tmux knows them. The pane's process is the agent once agentdeck has executed it.
agent_is_there() {
	SERVER='' AGENT_PID='' ARGV=()
	read -r SERVER AGENT_PID < <(tmux_of "$SOCKET" display-message -p '#{pid} #{pane_pid}') || return
	SERVER_START=$(start_time "$SERVER") && AGENT_START=$(start_time "$AGENT_PID") || return
	mapfile -d '' -t ARGV < <(cat "/proc/$AGENT_PID/cmdline" 2>/dev/null)
	[[ ${#ARGV[@]} -gt 0 && ${ARGV[0]##*/} != agentdeck ]]
}

look() {
	look_at_agentdeck || return
	wait_for "$SHORT" agent_is_there && return 0
	look_at_agentdeck || return
	[[ -n $SERVER ]] || { no "no tmux server answers at ${SOCKET:-its socket}; agentdeck says: $STATUS_NOW"; return; }
	no "the agent is not there: its pane has process $AGENT_PID, ${ARGV[*]:-which has ended}"
}

screen() { tmux_of "$SOCKET" capture-pane -p -J -S -; }
shows() { screen | grep -F -- "$1" >/dev/null; }	# TEXT

stand_in() { [[ $AGENT == demo ]]; }

# The stand-in counts what it remembers. A screen alone could not prove that.
memory() { printf 'I remember %d of your messages; the first was "%s".' "$TURNS" "$MARKER"; }

take_turn() {	# TEXT
	deck session send "$SESSION" "$1" --timeout "$LONG" >"$T/send.out" 2>&1 || {
		no "the agent does not take a message: $(last_line "$T/send.out")"
		return
	}
	TURNS=$((TURNS + 1))
}

has_reply() { deck session output "$SESSION" >"$T/reply" 2>/dev/null && [[ -s $T/reply ]]; }

# Only an agent that the user named gets a request to its model.
sends_message() { stand_in || [[ -n $MAY_SEND ]]; }

# An agent that is stopped before it has answered may not have written anything yet.
take_first_turn() {
	take_turn "$MARKER" || return
	wait_for "$LONG" has_reply || { no "the agent does not answer"; return; }
}

show_argv() {
	local word line='' after=''
	for word in "${ARGV[@]}"; do
		printf -v word '%q' "$word"
		case $word in
		--resume | --session-id) line+=$GREEN$BOLD$word' ' after=$PLAIN ;;
		*) line+=$word$after' ' after='' ;;
		esac
	done
	say "argv" "$line$PLAIN"
}

# The argv has this flag with the id of the conversation, once, and no other flag that chooses one.
argv_has_only() {	# FLAG
	local i found=0
	for ((i = 1; i < ${#ARGV[@]}; i++)); do
		case ${ARGV[i]} in
		"$1")
			[[ ${ARGV[i + 1]-} == "$SESSION_ID" ]] ||
				{ no "the agent was started with $1 ${ARGV[i + 1]-} instead of $1 $SESSION_ID"; return; }
			found=$((found + 1))
			;;
		-r | --resume | --resume=* | -c | --continue | --fork-session | --session-id | --session-id=*)
			no "the agent was started with ${ARGV[i]} where $1 $SESSION_ID was due"
			return
			;;
		esac
	done
	((found == 1)) || { no "$1 $SESSION_ID was given to the agent $found times"; return; }
}

is_own_scope() { [[ $1 == */user@"$UID".service/*/agentdeck-tmux-"$SESSION".scope ]]; }	# CGROUP

# ---- logins --------------------------------------------------------------------------------------

WHY_NO_SCOPE='' LOGIN_KIND='' LOGIN_UNIT='' LOGIN_CGROUP='' LOGIN_NUMBER='' LOGIN_CLIENT='' LOGIN_IS_OPEN=''

can_make_scopes() {
	has systemd-run || { WHY_NO_SCOPE="systemd-run is not installed"; return 1; }
	timeout "$SHORT" systemd-run --user --scope --quiet --collect --unit="agentdeck-verify-$$-probe" -- true 2>"$T/probe.err" || {
		WHY_NO_SCOPE="there is no user manager: $(last_line "$T/probe.err")"
		return 1
	}
}

# What the shell in the login does. It waits for an answer, which it gets once its place is known.
write_login_script() {
	{
		printf 'T=%q SESSION=%q PATH=%q\n' "$T" "$SESSION" "$PATH"
		declare -p DECK_ENV CONTROL_ENV
		cat <<-'END'
			cd "$T" || exit
			cat /proc/$$/cgroup >cgroup.new && mv cgroup.new "cgroup.$1"
			for ((i = 0; i < 600; i++)); do
				[[ -d $T && ! -e answer.$1 ]] || break
				sleep 0.1
			done
			[[ $(cat "answer.$1") == go ]] 2>/dev/null || exit
			env "${CONTROL_ENV[@]}" agentdeck session start control --json >control.json 2>control.err
			env "${DECK_ENV[@]}" agentdeck session start "$SESSION" --json >start.json 2>start.err
			echo $? >status.new && mv status.new status
			exec sleep 600
		END
	} >"$T/login"
}

login_has_come_up() { [[ -e $T/cgroup.$LOGIN_KIND ]] || ! kill -0 "$LOGIN_CLIENT" 2>/dev/null; }
tell_login() { echo "$1" >"$T/answer.new" && mv "$T/answer.new" "$T/answer.$LOGIN_KIND"; }	# go, or anything else
session_value() { loginctl show-session "$LOGIN_NUMBER" -p "$1" --value 2>/dev/null; }

give_login_up() {	# REASON...
	tell_login no
	[[ -z $LOGIN_CLIENT ]] || kill "$LOGIN_CLIENT" 2>/dev/null || :
	LOGIN_CLIENT=''
	no "$@"
}

open_ssh_login() {
	has ssh || { no "ssh is not installed"; return; }
	ssh -o BatchMode=yes -o ConnectTimeout=5 -o LogLevel=ERROR -o RequestTTY=no -o PermitLocalCommand=no \
		-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null \
		-o ControlMaster=no -o ControlPath=none -o ForwardAgent=no -o ForwardX11=no -o ClearAllForwardings=yes \
		localhost "exec bash $(printf %q "$T/login") ssh" </dev/null >"$T/ssh.out" 2>&1 &
	LOGIN_CLIENT=$!
	wait_for "$SHORT" login_has_come_up || { give_login_up "ssh localhost does not come up"; return; }
	[[ -e $T/cgroup.ssh ]] || { give_login_up "ssh localhost: $(last_line "$T/ssh.out")"; return; }
	LOGIN_CGROUP=$(cgroup_of "$T/cgroup.ssh")
	LOGIN_UNIT=${LOGIN_CGROUP##*/}
	LOGIN_NUMBER=${LOGIN_UNIT#session-} LOGIN_NUMBER=${LOGIN_NUMBER%.scope}
	# Only a login session that we have just opened may be ended.
	[[ $LOGIN_UNIT == session-*.scope && $LOGIN_CGROUP != "$(cgroup_of $$)" && $LOGIN_NUMBER != "${XDG_SESSION_ID-}" &&
		$(session_value User) == "$UID" && $(session_value Service) == sshd ]] ||
		{ give_login_up "ssh localhost is not a login of its own for logind: $LOGIN_CGROUP"; return; }
}

open_scope_login() {
	LOGIN_UNIT=agentdeck-verify-$$-login.scope
	systemd-run --user --scope --quiet --collect --unit="$LOGIN_UNIT" -p TimeoutStopSec=5 -- \
		bash "$T/login" scope </dev/null >"$T/scope.out" 2>&1 &
	LOGIN_CLIENT=$!
	wait_for "$SHORT" login_has_come_up || { give_login_up "the scope $LOGIN_UNIT does not come up"; return; }
	[[ -e $T/cgroup.scope ]] || { give_login_up "systemd-run --user --scope: $(last_line "$T/scope.out")"; return; }
	LOGIN_CGROUP=$(cgroup_of "$T/cgroup.scope")
	[[ $LOGIN_CGROUP == */"$LOGIN_UNIT" ]] || { give_login_up "the shell is in $LOGIN_CGROUP, not in $LOGIN_UNIT"; return; }
}

open_login() {
	LOGIN_KIND=ssh
	if [[ $LOGIN == ssh ]]; then
		open_ssh_login || return
	elif [[ $LOGIN == scope ]] || ! stand_in; then
		LOGIN_KIND=scope
		open_scope_login || return
	elif ! open_ssh_login; then
		say "login" "no real one: $REASON"
		LOGIN_KIND=scope
		open_scope_login || return
	fi
	LOGIN_IS_OPEN=1
}

login_is_over() {
	local manager=()
	[[ $LOGIN_KIND != scope ]] || manager=(--user)
	[[ $(systemctl "${manager[@]}" show "$LOGIN_UNIT" -p ActiveState --value 2>/dev/null) =~ ^(inactive|failed)$ ]]
}

# End a login only when it is known to be ours: with an empty number, loginctl would end the login
# in which this runs.
end_login() {
	[[ -n $LOGIN_IS_OPEN ]] || { no "no login was opened"; return; }
	local command=(systemctl --user stop "$LOGIN_UNIT")
	[[ $LOGIN_KIND == scope ]] || command=(loginctl terminate-session "$LOGIN_NUMBER")
	say "logout" "${command[*]}"
	"${command[@]}" 2>"$T/logout.err" || { no "the login cannot be ended: $(last_line "$T/logout.err")"; return; }
	wait_for 120 login_is_over || { no "$LOGIN_UNIT does not end"; return; }
	LOGIN_CLIENT='' LOGIN_IS_OPEN=''
}

CONTROL_SERVER='' CONTROL_START=''

look_at_control() {
	local socket
	control session show control --json >"$T/control.json" 2>>"$T/control.err" || return
	socket=$(member socket "$T/control.json")
	CONTROL_SERVER=$(tmux_of "$socket" display-message -p '#{pid}') || return
	CONTROL_START=$(start_time "$CONTROL_SERVER")
}

# ---- scenarios -----------------------------------------------------------------------------------

started() { [[ -z $START_ERROR ]] || no "$START_ERROR"; }

scenario_isolation() {
	started || return
	say "server" "pid $SERVER: tmux -S $SOCKET"
	say "cgroup" "$SERVER_CGROUP"
	say "agent" "pid $AGENT_PID: $AGENT_CGROUP"
	[[ -z $WHY_NO_SCOPE ]] || { cannot "$WHY_NO_SCOPE"; return; }
	is_own_scope "$SERVER_CGROUP" ||
		{ no "the tmux server is not in agentdeck-tmux-$SESSION.scope below user@$UID.service: it dies with $SERVER_CGROUP"; return; }
	[[ $AGENT_CGROUP == "$SERVER_CGROUP" ]] || { no "the agent is not in the scope of its server"; return; }
}

is_the_same_run() {
	local pid
	is_alive "$SERVER" "$SERVER_START" || { no "the tmux server $SERVER died with the login"; return; }
	is_alive "$AGENT_PID" "$AGENT_START" || { no "the agent $AGENT_PID died with the login"; return; }
	pid=$(tmux_of "$SOCKET" display-message -p '#{pid}') || :
	[[ $pid == "$SERVER" ]] || { no "at its socket there is now server ${pid:-none}, not $SERVER"; return; }
	look_at_agentdeck || return
	[[ $STATUS_NOW == running ]] || { no "agentdeck says that the session is $STATUS_NOW"; return; }
	! sends_message || shows "$MARKER" || { no "what was on its screen is lost"; return; }
}

scenario_logout() {
	[[ -z $WHY_NO_SCOPE ]] || { cannot "$WHY_NO_SCOPE"; return; }
	started || return
	say "login" "$LOGIN_KIND, whose shell was in $LOGIN_CGROUP"
	look_at_control || { no "the control was not started: $(said control)"; return; }
	say "control" "pid $CONTROL_SERVER, not isolated: $(cgroup_of "$CONTROL_SERVER")"
	[[ $(cgroup_of "$CONTROL_SERVER") == "$LOGIN_CGROUP" ]] ||
		{ no "the control is not in the login, so that its end would prove nothing"; return; }
	end_login || return
	wait_for "$SHORT" is_gone "$CONTROL_SERVER" "$CONTROL_START" ||
		{ no "the control survived as well: this was no logout"; return; }
	say "control" "pid $CONTROL_SERVER is dead, as it must be"
	is_the_same_run || return
	say "server" "pid $SERVER is alive, started at the same tick ($SERVER_START)"
	say "agent" "pid $AGENT_PID is alive"
}

scenario_fresh_start() {
	started || return
	ARGV=("${FIRST_ARGV[@]}")
	show_argv
	[[ $SESSION_ID =~ ^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$ ]] ||
		{ no "agentdeck keeps no id of the conversation: '$SESSION_ID'"; return; }
	argv_has_only --session-id
}

start_again() {
	deck session start "$SESSION" --json >"$T/start.json" 2>"$T/start.err" ||
		{ no "agentdeck session start: $(said start)"; return; }
	look
}

# Make a newer conversation in the same directory. When agentdeck has lost an id, it looks for a
# conversation there. Without this decoy, nobody would see that the id was lost.
lay_decoy() {
	local transcript
	transcript=$(member transcript_path "$T/show.json")
	[[ -n $DECOY && -s $transcript ]] || return 0
	sed "s/$SESSION_ID/$DECOY/g; s/verify-$$/decoy-$$/g" "$transcript" >"${transcript%/*}/$DECOY.jsonl"
}

# This begins in a state in which nothing of the session runs.
comes_back() {
	local known cgroup
	lay_decoy
	start_again || return
	cgroup=$(cgroup_of "$SERVER")
	say "server" "pid $SERVER: $cgroup"
	show_argv
	known=$(member session_id "$T/show.json")
	[[ $known == "$SESSION_ID" ]] || { no "the conversation $SESSION_ID became $known"; return; }
	argv_has_only --resume || return
	RESUMES=$((RESUMES + 1))
	! is_own_scope "$SERVER_CGROUP" || is_own_scope "$cgroup" || { no "this time it is not in its own scope"; return; }
	((TURNS > 0)) || { no "there is no history to come back: $TURN_ERROR"; return; }
	wait_for "$LONG" shows "$MARKER" || { no "the history did not come back: '$MARKER' is not on the screen"; return; }
	say "history" "on the screen: $(screen | grep -F -- "$MARKER" | sed -n '1s/ *$//p')"
	stand_in || return 0
	take_turn "what do you remember?" || return
	wait_for "$SHORT" shows "$(memory)" || { no "the agent does not say: $(memory)"; return; }
	say "history" "the agent: $(memory)"
}

# Earlier failures must not make later results meaningless.
is_running() {
	started || return
	look_at_agentdeck || return
	[[ $STATUS_NOW == running ]] || start_again || return
	look
}

scenario_stop_and_start() {
	is_running || return
	deck session stop "$SESSION" --json >"$T/stop.json" 2>"$T/stop.err" || { no "agentdeck session stop: $(said stop)"; return; }
	is_gone "$SERVER" "$SERVER_START" || { no "the tmux server still runs after session stop"; return; }
	is_gone "$AGENT_PID" "$AGENT_START" || { no "the agent still runs after session stop"; return; }
	comes_back
}

kill_server() {
	# kill nothing but the server of the scratch session
	[[ $(tr '\0' '\n' <"/proc/$SERVER/cmdline") == *"$SOCKET"* && $SOCKET == "$T"/* ]] ||
		{ no "process $SERVER is not our server"; return; }
	say "kill -9" "$SERVER"
	kill -KILL "$SERVER"
	wait_for "$SHORT" is_gone "$SERVER" "$SERVER_START" || { no "the server survives SIGKILL"; return; }
	look_at_agentdeck || return
	say "status" "$STATUS_NOW"
	[[ $STATUS_NOW == error ]] || { no "agentdeck takes the killed session for $STATUS_NOW"; return; }
}

scenario_kill() {
	is_running || return
	kill_server || return
	comes_back
}

scenario_lost_sidecar() {
	local sidecar=$DECK_HOME/hooks/$SESSION.sid
	is_running || return
	kill_server || return
	grep -qF -- "$SESSION_ID" "$sidecar" 2>/dev/null ||
		{ no "there was no id in $sidecar that could be lost"; return; }
	say "rm" "$sidecar"
	rm "$sidecar"
	comes_back
}

log_lines() { cat "$DECK_HOME"/logs/*.log 2>/dev/null | grep -F "instance=$SESSION " | grep -F -- "$1"; }	# TEXT

scenario_log() {
	local isolation='tmux cgroup isolation: enabled (systemd-run detected)' fresh='resume: none reason=fresh_session'
	local resume="resume: id=$SESSION_ID reason=conversation_data_present" resumed
	[[ -z $WHY_NO_SCOPE ]] || isolation='tmux cgroup isolation: disabled ('
	{ log_lines "$isolation" | head -n 1; log_lines "$fresh"; log_lines "$resume"; } | sed 's/^/    /' || :
	log_lines "$isolation" >"$T/isolation.log" || { no "no line '$isolation'"; return; }
	log_lines "$fresh" >"$T/fresh.log" || { no "no line '$fresh'"; return; }
	((RESUMES > 0)) || { no "the session was never resumed, so there is nothing to be logged"; return; }
	resumed=$(log_lines "$resume" | wc -l) || :
	((resumed >= RESUMES)) || { no "$resumed lines '$resume', but it was resumed $RESUMES times"; return; }
}

scenario_stop() {
	local before left pid
	[[ -z $REAL_STOP_ERROR ]] || { no "$REAL_AGENT: $REAL_STOP_ERROR"; return; }
	is_running || return
	before=$(processes_of "$DECK_HOME" | wc -l)
	((before >= 2)) || { no "$before processes were found where a server and an agent run"; return; }
	say "before" "$before processes"
	deck session stop "$SESSION" --json >"$T/stop.json" 2>"$T/stop.err" || { no "agentdeck session stop: $(said stop)"; return; }
	left=$(processes_of "$DECK_HOME")
	say "after" "$(wc -w <<<"$left") processes"
	for pid in $left; do
		say "left" "pid $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
	done
	[[ -z $left ]] || { no "session stop left processes behind"; return; }
	look_at_agentdeck || return
	[[ $STATUS_NOW == stopped ]] || { no "agentdeck says that the session is $STATUS_NOW"; return; }
}

# ---- the run -------------------------------------------------------------------------------------

end_processes() {	# AGENTDECK_HOME
	local pid
	for pid in $(processes_of "$1"); do
		kill -KILL "$pid" 2>/dev/null || :
	done
}

# Remove what the agent keeps for the session's directory. Only we ever worked in that directory.
# The name is that of claude's layout.
remove_transcripts() {
	local file directory
	file=$(member transcript_path "$T/show.json" 2>/dev/null) || :
	directory=${file%/*}
	[[ ${directory##*/} != "${WORK//[^a-zA-Z0-9]/-}" ]] || rm -rf "$directory"
}

clean_up() {
	set +e
	[[ -z $LOGIN_CLIENT ]] || end_login >/dev/null || give_login_up
	[[ -z $SESSION ]] || deck session stop "$SESSION" >/dev/null 2>&1
	[[ -z $SESSION ]] || control session stop control >/dev/null 2>&1
	end_processes "$DECK_HOME"
	end_processes "$CONTROL_HOME"
	stand_in || remove_transcripts
	[[ $WORK == "$T"/* ]] || rm -rf "$WORK"
	if [[ -n $KEEP ]]; then
		echo "kept: $T"
	else
		rm -rf "$T"
	fi
} 2>/dev/null

check_programs() {
	local program
	for program in agentdeck tmux; do
		has "$program" || nothing_verified "$program is not in PATH"
	done
	[[ -r /proc/self/cgroup ]] || nothing_verified "there is no /proc"
	grep -q '^tmux ' <<<"$(tmux -V)" || nothing_verified "tmux does not run"
}

user_config() {
	if [[ -n ${AGENTDECK_HOME-} ]]; then
		printf '%s\n' "$AGENTDECK_HOME"
	else
		printf '%s\n' "${XDG_CONFIG_HOME:-$HOME/.config}/agentdeck"
	fi
}

# Make a place that neither finds nor touches anything of the user: not the settings, and not
# lingering.
make_place() {
	umask 077
	T=$(mktemp -d "${TMPDIR:-/tmp}/agentdeck-verify.XXXXXX")
	T=$(cd "$T" && pwd -P)
	DECK_HOME=$T/deck CONTROL_HOME=$T/control WORK=$T/work
	trap clean_up EXIT
	trap 'exit 130' INT TERM HUP
	[[ -z $PARENT ]] || WORK=$(mktemp -d "$(cd "$PARENT" && pwd -P)/agentdeck-verify.XXXXXX")
	mkdir -p "$DECK_HOME" "$CONTROL_HOME" "$WORK" "$T/control-work" "$T/agent"
	printf '[tmux]\nlinger = false\n' >"$DECK_HOME/config.toml"
	printf '[tmux]\nlinger = false\nlaunch_in_user_scope = false\n' >"$CONTROL_HOME/config.toml"
	[[ $AGENT == demo || ! -d $USER_CONFIG/agents ]] || cp -R "$USER_CONFIG/agents" "$DECK_HOME/"
	COMMON_ENV=(TMPDIR="$T" AGENTDECK_DEMO_CONFIG_DIR="$T/agent")
	if [[ -z ${XDG_RUNTIME_DIR-} && -d /run/user/$UID ]]; then
		export XDG_RUNTIME_DIR=/run/user/$UID
	fi
	[[ -z ${XDG_RUNTIME_DIR-} ]] || COMMON_ENV+=(XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR")
	DECK_ENV=("${COMMON_ENV[@]}" AGENTDECK_HOME="$DECK_HOME")
	CONTROL_ENV=("${COMMON_ENV[@]}" AGENTDECK_HOME="$CONTROL_HOME")
}

check_agent() {
	local flag
	deck agents show "$AGENT" --json >"$T/agent.json" 2>"$T/agent.err" || nothing_verified "$(said agent)"
	[[ $(member installed "$T/agent.json") == /* ]] || nothing_verified "agent $AGENT is not installed"
	for flag in --session-id --resume; do
		grep -q "^ *\"$flag\"" "$T/agent.json" ||
			nothing_verified "agent $AGENT does not take $flag: its command line would prove nothing"
	done
}

make_session() {
	if ! control add "$T/control-work" -t control --agent demo --json >"$T/add.json" 2>"$T/add.err" ||
		! deck add "$WORK" -t verify --agent "$AGENT" --json >"$T/add.json" 2>"$T/add.err"; then
		nothing_verified "agentdeck add: $(said add)"
	fi
	SESSION=$(member id "$T/add.json")
}

# The agent's hooks have reported that it is up, past every question. The script never chooses an
# agent that cannot report.
has_reported() { deck session show "$1" --json >"$T/probe.json" 2>/dev/null && [[ $(member activity "$T/probe.json") == idle ]]; }

comes_up() {	# AGENT
	local id status=0
	deck add "$WORK" -t probe --agent "$1" --json >"$T/probe.json" 2>"$T/probe.err" ||
		{ no "it cannot be added: $(said probe)"; return; }
	id=$(member id "$T/probe.json")
	if ! deck session start "$id" --json >"$T/probe.json" 2>"$T/probe.err"; then
		no "it does not start: $(said probe)" || status=1
	elif ! wait_for "$SHORT" has_reported "$id"; then
		no "it does not come up by itself: it may ask for a login, or whether to trust $WORK (--directory)" || status=1
	fi
	deck session show "$id" --json >"$T/show.json" 2>/dev/null || :
	deck remove --force "$id" >/dev/null 2>&1 || :
	return "$status"
}

choose_agent() {
	[[ -z $AGENT ]] || return 0
	MAY_SEND='' AGENT=claude
	if ! has claude; then
		WHY_AGENT="since claude is not in your PATH"
	elif ! deck agents show claude --json >"$T/agent.json" 2>"$T/agent.err"; then
		WHY_AGENT="since agentdeck does not know claude: $(said agent)"
	elif comes_up claude; then
		WHY_AGENT="since it is in your PATH and comes up"
		return 0
	else
		WHY_AGENT="since claude is in your PATH, but cannot be used: $REASON"
		remove_transcripts
	fi
	AGENT=demo
}

REAL_AGENT='' REAL_STOP_ERROR=''

# What follows needs a conversation, and the user did not ask for one with the real agent.
change_to_stand_in() {
	local left
	! sends_message || return 0
	REAL_AGENT=$AGENT
	printf '\n%sFrom here on with the stand-in%s: a conversation with %s would be a request to its model (--agent %s makes it)\n' \
		"$BOLD" "$PLAIN" "$AGENT" "$AGENT"
	if [[ -z $START_ERROR ]]; then
		deck session stop "$SESSION" --json >"$T/stop.json" 2>"$T/stop.err" || REAL_STOP_ERROR="session stop: $(said stop)"
		left=$(processes_of "$DECK_HOME")
		[[ -z $left ]] || REAL_STOP_ERROR="session stop left processes behind: ${left//$'\n'/ }"
		say "stop" "$REAL_AGENT: ${REAL_STOP_ERROR:-nothing is left of it}"
	fi
	remove_transcripts
	deck remove --force "$SESSION" >/dev/null 2>&1 || :
	AGENT=demo START_ERROR='' MARKER=$PLAIN_MARKER
	deck add "$WORK" -t verify-demo --agent demo --json >"$T/add.json" 2>"$T/add.err" ||
		{ START_ERROR="agentdeck add: $(said add)"; return 0; }
	SESSION=$(member id "$T/add.json")
	start_again || { START_ERROR=$REASON; return 0; }
	take_down_start
}

login_has_started() { [[ -e $T/status ]]; }

start_in_login() {
	write_login_script
	open_login || return
	say "login" "$LOGIN_KIND: $LOGIN_CGROUP"
	tell_login go
	wait_for "$LONG" login_has_started || { no "agentdeck session start does not end"; return; }
	[[ $(<"$T/status") == 0 ]] || { no "agentdeck session start: $(said start)"; return; }
	look
}

TURN_ERROR='' FIRST_ARGV=() SERVER_CGROUP='' AGENT_CGROUP=''

# Record everything that scenarios 1 to 3 judge before the login ends: after that, it may be gone.
start_session() {
	printf '\n%sStarting the session%s\n' "$BOLD" "$PLAIN"
	if can_make_scopes; then
		start_in_login
	else
		say "login" "none: $WHY_NO_SCOPE"
		start_again
	fi || { START_ERROR=$REASON; return; }
	take_down_start
}

take_down_start() {
	FIRST_ARGV=("${ARGV[@]}")
	SESSION_ID=$(member session_id "$T/show.json")
	SERVER_CGROUP=$(cgroup_of "$SERVER")
	AGENT_CGROUP=$(cgroup_of "$AGENT_PID")
	sends_message || { say "message" "none: it would be a request to a model"; return; }
	take_first_turn || TURN_ERROR=$REASON
	if [[ -n $TURN_ERROR ]]; then
		say "message" "$RED$TURN_ERROR$PLAIN"
	else
		say "message" "$MARKER"
	fi
}

print_head() {
	printf '%sDo sessions survive a logout here, and come back?%s\n\n' "$BOLD" "$PLAIN"
	say "agentdeck" "$(command -v agentdeck), $(agentdeck --version | head -n 1)"
	say "tmux" "$(command -v tmux), $(tmux -V)"
	say "user" "$(id -un) ($UID)"
	if stand_in; then
		say "agent" "demo, a stand-in without a model, $WHY_AGENT"
	elif sends_message; then
		say "agent" "$AGENT, $WHY_AGENT, with your own login and settings; it is sent one message"
	else
		say "agent" "$AGENT, $WHY_AGENT, with your own login and settings, for scenarios 1 to 3 and its stop;"
		say "" "it is sent nothing; the rest is done with demo, a stand-in without a model"
	fi
	say "directory" "$T: your sessions, servers and settings are left alone"
	printf '\n'
	list_scenarios
}

note() { printf '%s[NOTE]%s %s\n' "$YELLOW$BOLD" "$PLAIN" "$*"; }

print_notes() {
	[[ -z $REAL_AGENT ]] ||
		note "scenarios 1 to 3 were $REAL_AGENT's, the rest the stand-in's; --agent $REAL_AGENT does it all, with a message"
	if grep -qsE '^[[:space:]]*launch_in_user_scope[[:space:]]*=[[:space:]]*false' "$USER_CONFIG/config.toml"; then
		note "$USER_CONFIG/config.toml switches isolation off: your own sessions do die with your login"
	fi
	if [[ -z $WHY_NO_SCOPE && $(loginctl show-user "$UID" -p Linger --value 2>/dev/null) == no ]]; then
		note "you do not linger yet, so your user manager ends after your last logout, with every session;" \
			"agentdeck sees to it at the first start, or you do: loginctl enable-linger"
	fi
}

print_banner() {
	local list
	printf '\n'
	printf -v list '%s, ' "${NOT_PASSED[@]}"
	if ((FAILED > 0)); then
		printf '%sthe end of agentdeck'\''s log%s\n' "$DIM" "$PLAIN"
		tail -n 20 "$DECK_HOME"/logs/agentdeck.log 2>/dev/null | sed 's/^/    /' || :
		printf '\n%s[FAIL] sessions are not safe here: %s%s\n' "$RED$BOLD" "${list%, }" "$PLAIN"
	elif ((PASSED == 0)); then
		printf '%s[FAIL] nothing could be verified%s\n' "$RED$BOLD" "$PLAIN"
	elif ((SKIPPED > 0)); then
		printf '%s[PASS] all that could be verified here holds; %snot verified: %s%s\n' \
			"$GREEN$BOLD" "$YELLOW" "${list%, }" "$PLAIN"
	else
		printf '%s[PASS] sessions survive a logout here, and come back with their conversation%s\n' "$GREEN$BOLD" "$PLAIN"
	fi
	print_notes
	printf '%d passed, %d failed' "$PASSED" "$FAILED"
	((SKIPPED == 0)) || printf ', %d skipped' "$SKIPPED"
	printf '\n'
}

check_programs
USER_CONFIG=$(user_config)
# This may run inside an agentdeck session, which must not be mistaken for ours.
unset TMUX TMUX_PANE "${!AGENTDECK_@}"
make_place
MARKER="verify-$$-$RANDOM"
DECOY=$(cat /proc/sys/kernel/random/uuid 2>/dev/null) || :
PLAIN_MARKER=$MARKER
choose_agent
stand_in || MARKER="Please answer with this word: $MARKER"
print_head
check_agent
make_session
start_session
scenario 1 scenario_isolation
scenario 2 scenario_logout
scenario 3 scenario_fresh_start
change_to_stand_in
scenario 4 scenario_stop_and_start
scenario 5 scenario_kill
scenario 6 scenario_lost_sidecar
scenario 7 scenario_log
scenario 8 scenario_stop
print_banner
((FAILED == 0 && PASSED > 0))
