# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# run.sh - how scripts/test runs its steps, in lanes, and reports them; sourced, never run
#
# shellcheck disable=SC2153,SC2004 # scripts/test has the lists of names, and choose.sh NAMES

PASSED=0 FAILED=0 SKIPPED=0 LANES=()
END=	# when the searching steps must have ended; empty: no limit
SHARE=	# seconds for the current searching step; empty: no limit

# What the test programs say about themselves, on one line.
summary_of() {	# LOG
	sed -nE '/^([0-9]+ passed, [0-9]+ failed|[0-9]+ of [0-9]+ seeds|seed [0-9]+, [0-9]+ s each|monkey: [0-9]|newest: |agents: [0-9]|containers: [0-9]|check-[a-z]+: [0-9]|shellcheck: [0-9]|clang-tidy: [0-9]|coverage: )/p' "$1" |
		paste -s -d ';' | sed 's/;/; /g'
}

# The tests and checks that a log names as failed, on one line.
failed_in() {	# LOG
	sed -nE '/^\[  (FAILED  \] [0-9]+ test|ERROR   \] ---)/d
		s/^not ok( [0-9]+)?( -)? +(.+)/\3/p; t
		s/^  FAIL  ([a-z-]+ [a-z-]+).*/\1/p; t
		s/^(\[  (FAILED |ERROR  ) \]|FAIL(ED)?:?) +([^ :]+).*/\4/p' "$1" |
		awk '!seen[$0]++ { printf "%s%s", between, $0; between = ", " }'
}

# This runs in a lane. It prints what the step said, and leaves what the table needs in RESULTS.
report_step() {	# STEP STATUS SECONDS
	local step=$1 log=$LOGS/$1.log result note failed
	case $2 in
	0) result=ok note=$(summary_of "$log") ;;
	77)
		result=skip note=$(tail -n 1 "$log")
		note=${note#skip: }
		[[ $STRICT != 1 ]] || { result=FAIL; note="skipped, which is a failure here: $note"; } ;;
	*)
		result=FAIL note=$(summary_of "$log") failed=$(failed_in "$log")
		note="${note:-exit status $2} (build/test/logs/$step.log)${failed:+: $failed}" ;;
	esac
	[[ $result != ok ]] || keep_times "$step" "$3"
	printf '%s\n' "$result" "$3" "$note" >"$RESULTS/$step"
	(
		flock 8
		clear_progress
		if [[ $result == FAIL ]]; then
			printf -- '---- %s: the end of its output\n' "$step"
			tail -n 300 "$log"
			printf -- '----\n'
		fi
		row_of "$step"
	) 8>"$WORK/output.lock"
}

row_of() {	# STEP: print its line of the table, from RESULTS
	local fields colour=$GREEN
	mapfile -t fields <"$RESULTS/$1"
	[[ ${fields[0]} != skip ]] || colour=$YELLOW
	[[ ${fields[0]} != FAIL ]] || colour=$RED
	printf '%s%-4s%s  %-16s %4d s' "$colour" "${fields[0]}" "$PLAIN" "$1" "${fields[1]}"
	# the notes have their own column
	fmt -s -w 70 <<<"${fields[2]}" | sed '1s/^/  /; 1!s/^/                                /'
}

run_step() {	# STEP
	local step=$1 begin=$SECONDS status
	date +%s >"$RESULTS/$step.runs"
	[[ -t 1 ]] || echo "$step ..."
	set +e
	(
		set -e
		# shellcheck disable=SC2064 # now: an exit in a function leaves no local variable
		trap "times >'$RESULTS/$step.cpu'" EXIT
		! is_in "$step" "${PROCESSOR_LANE[@]}" || renice -n 10 -p "$BASHPID" >/dev/null 2>&1 || :
		! is_in "$step" "${NEED_ROOT[@]}" || can_be_root || skip "needs root, or sudo"
		# shellcheck disable=SC2086 # names
		"step_$step" ${NAMES[$step]-}
	) >"$LOGS/$step.log" 2>&1
	status=$?
	set -e
	rm -f "$RESULTS/$step.runs"
	report_step "$step" "$status" $((SECONDS - begin))
}

# A step belongs to the lane that takes it first.
run_lane() {	# STEP...
	local step
	for step; do
		! mkdir "$RESULTS/$step.taken" 2>/dev/null || run_step "$step"
	done
}

clear_progress() { [[ ! -t 1 ]] || printf '\r\e[K'; }

# On a terminal, one line shows the steps that run. Each second overwrites it.
show_running() {
	local file step line=''
	for file in "$RESULTS"/*.runs; do
		step=${file##*/}
		line+="${step%.runs} $(($(date +%s) - $(cat "$file" 2>/dev/null || date +%s))) s  "
	done
	(
		flock 8
		clear_progress
		printf '%s' "$line"
	) 8>"$WORK/output.lock"
}

is_running() {	# PID...
	local pid
	for pid; do
		! kill -0 "$pid" 2>/dev/null || return 0
	done
	return 1
}

# Each lane is a process group, so that it can be ended with everything that it started.
start_lane() {	# STEP...
	(($#)) || return 0
	set -m
	run_lane "$@" &
	LANES+=($!)
	set +m
}

await_lanes() {
	while is_running "${LANES[@]}"; do
		[[ ! -t 1 ]] || show_running
		# keep sudo from asking for the password again
		((EUID == 0)) || sudo -n -v 2>/dev/null || :
		sleep 1
	done
	wait "${LANES[@]}" 2>/dev/null || :
	LANES=()
	clear_progress
}

# Seconds until END for each of COUNT steps, from 1 to SEARCH_MOST_S.
readonly SEARCH_MOST_S=300
share_of() {	# COUNT
	local share
	[[ -n $END ]] || return 0
	share=$(((END - SECONDS) / $1))
	echo $((share < 1 ? 1 : share > SEARCH_MOST_S ? SEARCH_MOST_S : share))
}

clean_up() {
	local lane
	for lane in "${LANES[@]}"; do
		kill -TERM -- "-$lane" 2>/dev/null || :
	done
	[[ ! -d $SCRATCH_PREFIX ]] || as_root rm -rf "$SCRATCH_PREFIX"
	[[ ! -d $WORK/verify-host ]] || as_root "$TOP/tests/testbed/testhost" down "$WORK/verify-host" || :
}

run_all() {
	local count step own backwards=()
	pick "${FIRST[@]}"
	run_group "${PICKED[@]}"
	pick "${PROCESSOR_LANE[@]}"; own=("${PICKED[@]}")
	pick "${HOST_LANE[@]}"
	for step in "${PICKED[@]}"; do
		backwards=("$step" "${backwards[@]}")
	done
	start_lane "${PICKED[@]}"
	start_lane "${own[@]}" "${backwards[@]}"
	await_lanes
	[[ ${AGENTDECK_TEST_AGAIN-} != 1 ]] || try_failed_steps_again
	pick "${SEARCH[@]}"
	count=${#PICKED[@]}
	for step in "${PICKED[@]}"; do
		SHARE=$(share_of "$count")
		run_group "$step"
		count=$((count - 1))
	done
	pick "${NAMED[@]}"
	run_group "${PICKED[@]}"
	[[ ${AGENTDECK_TEST_AGAIN-} != 1 ]] || try_failed_steps_again
}

run_group() { start_lane "$@"; await_lanes; }

# What a second attempt of a step runs: the tests that its log names as failed, where they can run alone.
failed_tests_in() {	# STEP LOG
	case $1 in
	persistence*) sed -nE 's/^\[  (FAILED |ERROR  ) \] ([A-Za-z0-9_]+)$/\2/p' "$2" | sort -u ;;
	agents) sed -nE 's/^  FAIL  ([a-z0-9-]+) ([a-z0-9-]+)( .*)?$/\1\n--check \2/p' "$2" | sort -u ;;
	esac
}

# See AGENTDECK_TEST_AGAIN above. A late second attempt could exceed the time limit of the CI.
readonly AGAIN_UNTIL_S=4500
try_failed_steps_again() {
	local step failed=() log names takes of_step=$SHARE
	for step in "${CHOSEN[@]}"; do
		[[ -e $RESULTS/$step.again || $(head -n 1 "$RESULTS/$step" 2>/dev/null) != FAIL ]] || failed+=("$step")
	done
	((${#failed[@]} > 0 && ${#failed[@]} <= 3)) || return 0
	SHARE=${SHARE:+60}
	for step in "${failed[@]}"; do
		log=$LOGS/$step.first.log
		names=$(failed_tests_in "$step" "$LOGS/$step.log" | paste -s -d ' ')
		takes=$(sed -n 2p "$RESULTS/$step")
		[[ ! $names ]] || NAMES[$step]=$names takes=200
		((SECONDS + takes < AGAIN_UNTIL_S)) || continue
		touch "$RESULTS/$step.again"
		mv "$LOGS/$step.log" "$log"
		rmdir "$RESULTS/$step.taken"
		echo "$step: a second attempt${NAMES[$step]:+: ${NAMES[$step]}}"
		run_group "$step"
		[[ $(head -n 1 "$RESULTS/$step") != ok ]] ||
			sed -i "3s|\$| (at the second attempt; the first: build/test/logs/$step.first.log)|" "$RESULTS/$step"
	done
	SHARE=$of_step
}

# The lines of a log that name what failed, and the end of it.
print_failure() {	# STEP
	printf '\n---- %s: what failed\n' "$1"
	grep -nE '^\[  FAILED  \]|^not ok|^ *(\[?FAIL|FAILED)|: error: |^\[  ERROR   \]|ERROR: ' "$LOGS/$1.log" | cut -c 1-200 | tail -n 20 || :
	# the reasons that real-agents gives
	grep -A 12 '^  FAIL  ' "$LOGS/$1.log" | cut -c 1-200 | tail -n 40 || :
	echo ...
	tail -n 10 "$LOGS/$1.log" | cut -c 1-200
}

print_failures() {
	local step
	for step in "${CHOSEN[@]}"; do
		[[ $(head -n 1 "$RESULTS/$step") != FAIL || ! -e $LOGS/$step.log ]] || print_failure "$step"
	done
}

# The table comes last, so that the end of a long log says what failed.
print_table() {
	local step fields
	for step in "${ALL[@]}"; do
		is_in "$step" "${CHOSEN[@]}" || continue
		[[ -e $RESULTS/$step ]] || printf '%s\n' FAIL 0 "it was ended before it had a result" >"$RESULTS/$step"
		mapfile -t fields <"$RESULTS/$step"
		case ${fields[0]} in
		ok) PASSED=$((PASSED + 1)) ;;
		skip) SKIPPED=$((SKIPPED + 1)) ;;
		*) FAILED=$((FAILED + 1)) ;;
		esac
	done
	print_failures
	print_slowest
	printf '\n%sSummary%s\n' "$BOLD" "$PLAIN"
	for step in "${ALL[@]}"; do
		[[ ! -e $RESULTS/$step ]] || row_of "$step"
	done
	report_share
	printf '\n%d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
	printf '%d passed, %d failed' "$PASSED" "$FAILED"
	((SKIPPED == 0)) || printf ', %d skipped' "$SKIPPED"
	echo
}
