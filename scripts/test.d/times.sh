# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# times.sh - how long scripts/test takes, and what takes long; sourced, never run
#
# TIMES has two files for each step that ran as a whole and passed: STEP, with the seconds that it took and
# those that its processes computed (on test hosts they are not counted), and STEP.tests, with a line
# "SECONDS NAME" for each of its tests.

# shellcheck disable=SC2153 # scripts/test has the lists of names

# tests/budget says how long a step takes, at most, where it never ran.
declare -A ABOUT=()
while read -r step seconds rest; do
	[[ $step == '#'* || ! $step || $rest ]] || ABOUT[$step]=$seconds
done <"$TOP/tests/budget"
readonly ABOUT

# As long as last time. A part of a step takes less: about 3 s for each test.
seconds_of() {	# STEP
	local seconds=${ABOUT[$1]-0} names part
	[[ ! -s $TIMES/$1 ]] || read -r seconds _ <"$TIMES/$1"
	read -ra names <<<"${NAMES[$1]-}"
	part=$((10 + 3 * ${#names[@]}))
	((!${#names[@]} || part > seconds)) || seconds=$part
	echo "$seconds"
}

# ---- before the run ------------------------------------------------------------------------------

# Sets TOOK to the seconds that these steps will take, one after the other.
announce() {	# LABEL STEP...
	local step seconds line=
	TOOK=0
	for step in "${@:2}"; do
		seconds=$(seconds_of "$step")
		TOOK=$((TOOK + seconds))
		line+=", $step $seconds s"
	done
	[[ -z $line ]] || printf '  %-20s%s\n' "$1" "${line#, }"
}

# Sets TOOK to the seconds of two lanes. The one that ends first takes steps from the end of the other.
announce_lanes() {
	local processor host last next=0
	pick "${PROCESSOR_LANE[@]}"; announce "then" "${PICKED[@]}"; processor=$TOOK
	pick "${HOST_LANE[@]}"; announce 'at the same time' "${PICKED[@]}"; host=0
	last=$((${#PICKED[@]} - 1))
	while ((next <= last)); do
		if ((processor < host)); then
			processor=$((processor + $(seconds_of "${PICKED[last]}"))) last=$((last - 1))
		else
			host=$((host + $(seconds_of "${PICKED[next]}"))) next=$((next + 1))
		fi
	done
	TOOK=$((processor > host ? processor : host))
}

announce_all() {
	local seconds
	echo "What will run, and about how many seconds each step takes:"
	pick "${FIRST[@]}"; announce first "${PICKED[@]}"; seconds=$TOOK
	announce_lanes; seconds=$((seconds + TOOK))
	pick "${SEARCH[@]}"; announce last "${PICKED[@]}"; seconds=$((seconds + TOOK))
	pick "${NAMED[@]}"; announce 'at the end' "${PICKED[@]}"; seconds=$((seconds + TOOK))
	printf 'Together: about %d min\n' $(((seconds + 59) / 60))
	if { is_in agents "${CHOSEN[@]}" || is_in more-agents "${CHOSEN[@]}"; } && [[ ! -d /var/cache/agentdeck-tests ]]; then
		echo "The steps with real agents download 450 MB from the npm registry, once."
	fi
	echo
}

# ---- after a step --------------------------------------------------------------------------------

# "SECONDS NAME" for each test that a log times: as tests/helper/timed and the programs print it, and as
# real-agents does.
times_in() {	# LOG
	sed -nE 's/^took ([0-9.]+) s: +(.+)$/\1 \2/p
		s/^  (ok|FAIL) +([^ ]+ [^ ]+)  \(([0-9]+) s\)$/\3 \2/p' "$1"
}

# A step that ran in part says nothing about the whole.
keep_times() {	# STEP SECONDS
	local cpu=0
	[[ ! ${NAMES[$1]-} ]] || return 0
	# of "times": the line of the children
	[[ ! -s $RESULTS/$1.cpu ]] || cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$RESULTS/$1.cpu")
	echo "$2 $cpu" >"$TIMES/$1"
	times_in "$LOGS/$1.log" >"$TIMES/$1.tests"
}

# ---- after the run -------------------------------------------------------------------------------

# Without the files whose cases are timed, too.
without_sums() {	# "SECONDS NAME" lines on standard input
	awk '
		{ line[NR] = $0; sub(/^[^ ]+ /, ""); file = name[NR] = $0 }
		sub(/:.*/, "", file) { has_cases[file] = 1 }
		END { for (i = 1; i <= NR; i++) if (!(name[i] in has_cases)) print line[i] }'
}

# The ten slowest, on one line.
slowest_in() {	# "SECONDS NAME" lines on standard input
	without_sums | sort -rn | awk '
		NR <= 10 { seconds = $1; sub(/^[^ ]+ /, ""); printf "%s%s %.1f s", between, $0, seconds; between = ", " }'
}

print_slowest_of() {	# STEP FILE
	local slowest
	slowest=$(slowest_in <"$2")
	[[ ! $slowest ]] || printf '%s: %s\n' "$1" "$slowest" | fmt -s -w 98 | sed '1!s/^/    /'
}

print_slowest() {
	local step
	echo
	echo "The slowest tests:"
	for step in "${ALL[@]}"; do
		! is_in "$step" "${CHOSEN[@]}" || print_slowest_of "$step" <(times_in "$LOGS/$step.log")
	done
}

over() {	# SECONDS BUDGET: a mark
	! awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }' || printf '  over'
}

sum_of() {	# STEP PATTERN: the seconds of the tests whose names fit
	local seconds name
	while read -r seconds name; do
		# shellcheck disable=SC2053 # a pattern
		[[ $name != $2 ]] || echo "$seconds"
	done < <(without_sums <"$TIMES/$1.tests") | awk '{ sum += $1 } END { printf "%.1f", sum }'
}

print_budgets() {
	local step pattern seconds words took
	while read -r step pattern seconds words; do
		[[ $step && $step != '#'* && $seconds && -s $TIMES/$step.tests ]] || continue
		took=$(sum_of "$step" "$pattern")
		printf '  %-16s %6s s of %4s s%s  %s (%s)\n' "$step" "$took" "$seconds" "$(over "$took" "$seconds")" "$words" "$pattern"
	done <"$TOP/tests/budget"
}

print_times() {
	local step seconds cpu
	echo "The steps: what they took last, what their processes computed (without test hosts), their budget:"
	for step in "${ALL[@]}"; do
		if [[ -s $TIMES/$step ]]; then
			read -r seconds cpu <"$TIMES/$step"
			printf '  %-16s %6d s %6d s %6d s%s\n' "$step" "$seconds" "${cpu:-0}" "${ABOUT[$step]-0}" "$(over "$seconds" "${ABOUT[$step]-0}")"
		else
			printf '  %-16s %8s %8s %6d s\n' "$step" - - "${ABOUT[$step]-0}"
		fi
	done
	printf '\nTests with a budget (tests/budget):\n'
	print_budgets
	printf '\nThe slowest tests:\n'
	for step in "${ALL[@]}"; do
		[[ ! -s $TIMES/$step.tests ]] || print_slowest_of "$step" "$TIMES/$step.tests"
	done
}
