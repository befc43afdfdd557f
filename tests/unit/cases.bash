# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# cases.bash - run the cases of a test, as many at once as there are processors
#
# SOURCED, and then: run_cases [NAME...]
#
# The case NAME is a function case_NAME, or NAME. Without a name these are all functions case_NAME.
# Each case runs in a subshell, so it changes nothing for the others. Before it runs set_up, in which
# the test makes what a case has for itself. After it runs tear_down, whatever the case did. A case
# fails when one of the three calls fail. Its output comes when it ends, together, and then a line
# "took SECONDS s: FILE:CASE". AGENTDECK_TEST_JOBS is how many run at once.
#
# run_cases returns 0 when all passed, and 1 when some failed.

failures=0 case_name=""

fail() {	# WORD...
	echo "FAILED $case_name: $*"
	failures=$((failures + 1))
}

# Until a command succeeds, for 20 seconds.
until_done() {	# COMMAND...
	local deadline=$((SECONDS + 20))
	until "$@"; do
		((SECONDS < deadline)) || return 1
		read -rt 0.05 <> <(:)
	done
	return 0
}

set_up() { :; }
tear_down() { :; }

run_case() {	# the one called $case_name
	local start=${EPOCHREALTIME//[!0-9]/} took run=$case_name
	! declare -F "case_$run" >/dev/null || run=case_$run
	declare -F "$run" >/dev/null || fail "there is no case of this name"
	trap tear_down EXIT
	set_up
	((failures)) || "$run"
	trap - EXIT
	tear_down
	((failures)) || echo "ok $case_name"
	took=$((${EPOCHREALTIME//[!0-9]/} - start))
	printf 'took %d.%03d s: tests/unit/%s:%s\n' $((took / 1000000)) $((took / 1000 % 1000)) "${0##*/}" "$case_name"
	((failures == 0))
}

run_cases() {	# [NAME...]
	local jobs=${AGENTDECK_TEST_JOBS:-$(nproc)} running=0 failed=0 output cases=("$@")
	(($#)) || mapfile -t cases < <(compgen -A function case_)
	output=$(mktemp -d "${TMPDIR:-/tmp}/agentdeck-cases-XXXXXX") || return
	for case_name in "${cases[@]#case_}"; do
		if ((running == jobs)); then
			wait -n || failed=$((failed + 1))
			running=$((running - 1))
		fi
		(
			# A case that exits loses none of its words.
			(run_case) >"$output/$case_name" 2>&1
			status=$?
			cat "$output/$case_name"
			exit "$status"
		) &
		running=$((running + 1))
	done
	while ((running-- > 0)); do
		wait -n || failed=$((failed + 1))
	done
	rm -rf "$output"
	echo "${#cases[@]} cases, $failed failed"
	((failed == 0))
}
