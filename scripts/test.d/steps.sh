# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# steps.sh - what the steps of scripts/test do: a function step_NAME for each; sourced, never run
#
# shellcheck disable=SC2153 # scripts/test has the folders
set -euo pipefail

# ---- what steps are made of ----------------------------------------------------------------------

skip() { echo "skip: $*"; exit 77; }
needs() { has "$1" || skip "$1 is not installed"; }
can_be_root() { ((EUID == 0)) || sudo -n true 2>/dev/null; }
is_in() {	# WORD WORD...: whether the first is one of the others
	[[ " ${*:2} " == *" $1 "* ]]
}

limit() {	# SECONDS COMMAND...: a hang is a failure
	local status=0
	timeout --foreground --kill-after=20 "$@" || status=$?
	((status != 124 && status != 137)) || echo "ended after $1 s: it hangs"
	return "$status"
}

limit_as_root() {	# SECONDS COMMAND...
	local name sudo=()
	if ((EUID != 0)); then
		sudo=(sudo -- env PATH="$PATH" HOME="$HOME")
		# sudo starts with its own environment; npm needs the proxies of ours
		for name in "${!AGENTDECK_TEST_@}" NODE_EXTRA_CA_CERTS {http,https,no}_proxy {HTTP,HTTPS,NO}_PROXY; do
			[[ -z ${!name-} ]] || sudo+=("$name=${!name}")
		done
	fi
	limit "$1" "${sudo[@]}" env AGENTDECK_TEST_PREFIX="$SCRATCH_PREFIX" AGENTDECK_TEST_SOURCE="$TOP/tests" "${@:2}"
}

SOURCE=$TOP	# what is built

# A step may use the build of another step, so the first step that needs a build makes it.
configure_in() {	# NAME CONFIGURE_ARGUMENT...: changes into the build directory
	local dir=$WORK/$1
	shift
	make_configure "$TOP"
	if [[ $(cat "$dir/configured-with" 2>/dev/null || :) != "$SOURCE $*" ]]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		cd "$dir"
		"$SOURCE/configure" -q "$@"
		echo "$SOURCE $*" >configured-with
	fi
	cd "$dir"
}

build_in() {	# NAME CONFIGURE_ARGUMENT...
	configure_in "$@"
	limit 900 make --no-print-directory -j "$(nproc)"
}

# Both lanes use this build, and only one make at a time may compile in it.
gcc_build() {	# [WORD...]: what to make, too
	local lock
	exec {lock}>"$WORK/gcc.lock"
	flock "$lock"
	build_in gcc --prefix="$SCRATCH_PREFIX" --enable-werror CC=gcc CXX=g++
	((!$#)) || limit 900 make --no-print-directory -s -j "$(nproc)" "$@"
	exec {lock}>&-
}

# The totals of cmocka's programs. automake counts only programs, and counts a program with a
# skipped test as passed.
count_unit_tests() {
	cat tests/unit/*.log | awk '
		/^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
		/^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
		/^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
		END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
}

# Some tests wait, so more of them run than there are processors.
make_check() {	# WORD...: run the tests that these words leave, and print how long each took
	local status=0
	find . -name '*.log' -path './[ts]*' -delete
	limit 1800 "${AS_USER[@]}" make --no-print-directory -j $(($(nproc) * 3 / 2)) check VERBOSE=1 LOG_COMPILER="$TOP/tests/helper/timed" "$@" || status=$?
	find . -name '*.log' -path './[ts]*' -exec grep -h '^took ' {} + || :
	return "$status"
}

MAY_SKIP=	# set where a build cannot run every test
AS_USER=()	# set where root runs the tests as a user

# Permissions do not bind root, so what they forbid is only seen by a user.
become_user() {	# DIRECTORY...: what becomes the user's; the first one has its home
	local -a user
	((EUID == 0)) || return 0
	user=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups)
	if ! "${user[@]}" test -x "$1"; then
		echo "the tests run as root: $1 is in a directory that other users may not enter"
		return 0
	fi
	mkdir -p "$1/home"
	chown -R nobody "$@"
	AS_USER=("${user[@]}" env HOME="$1/home")
}

# These are all of `make check` but what is in the step checks. The persistence program
# is compiled, too, unless WITHOUT_PERSISTENCE is set.
WITHOUT_PERSISTENCE=
unit_tests() {	# [TEST...]: all, or these
	local totals test only=(SOURCE_CHECKS= TEXT_TESTS=)
	# shellcheck disable=SC2016 # make expands them
	if (($#)); then
		# what to build: the tests that are no scripts, and the programs that they run
		only=("TESTS=$*" 'check_PROGRAMS=$(TEST_HELPERS)')
		for test; do
			[[ -e $TOP/$test ]] || only[1]+=" $test"
		done
	elif [[ $WITHOUT_PERSISTENCE ]]; then
		only+=('check_PROGRAMS=$(UNIT_TESTS) $(FUZZ_TARGETS) $(TEST_HELPERS)')
	fi
	[[ $PWD != "$WORK/gcc" ]] || gcc_build check "${only[@]}" TESTS=
	make_check "${only[@]}"
	totals=$(count_unit_tests)
	if [[ $STRICT == 1 && ! $MAY_SKIP && $totals != *", 0 skipped" ]]; then
		grep -h '^\[  SKIPPED \]' tests/unit/*.log
		echo "$totals: tests that could not run (AGENTDECK_TEST_STRICT=1)"
		return 1
	fi
	echo "$totals${1:+, in $# programs and checks}"
}

# ---- steps ---------------------------------------------------------------------------------------

step_layers() { "$TOP/scripts/check-layers"; }
step_sizes() { "$TOP/scripts/check-sizes"; }
step_format() { "$TOP/scripts/check-format"; }

# Those of these folders that exist.
ours() {	# FOLDER...
	local folder
	for folder; do
		[[ ! -e $TOP/$folder ]] || echo "$TOP/$folder"
	done
}

shell_scripts() {
	local folders
	mapfile -t folders < <(ours scripts tests packaging .ci)
	find "${folders[@]}" -type f -exec \
		awk 'FNR == 1 && (/^#!.*[\/ ](ba|da)?sh( |$)/ || /^# shellcheck shell=/) { print FILENAME }' {} +
}

step_shell() {
	local files
	needs shellcheck
	mapfile -t files < <(shell_scripts | sort)
	cd "$TOP"
	printf '%s\0' "${files[@]}" | xargs -0 -n 8 -P "$(nproc)" shellcheck -x
	# grep -q may end before the other side has written all, which pipefail takes for a failure.
	if grep -nE '[^|]\| *(LC_ALL=C )?grep -[[:alpha:]]*q' "${files[@]}" | grep -v "sh -c"; then
		echo "give grep -q a here-string: no pipe"
		return 1
	fi
	echo "shellcheck: ${#files[@]} scripts"
}

step_spelling() {
	local files
	needs codespell
	mapfile -t files < <(ours src tests scripts docs man data packaging completions README.md CONTRIBUTING.md CHANGELOG.md)
	# inputs that a fuzzer made and files of other programs are in no language; screens cut words;
	# tests of typing errors make some
	codespell --ignore-words-list atach,strat,sesion --skip '*/tests/fuzz/corpus/*,*/tests/fixtures/*,*/tests/unit/screens/*,*/tests/unit/draw/*' "${files[@]}"
}

step_manual() {
	needs mandoc
	gcc_build
	mandoc -T lint -W warning "$WORK/gcc/agentdeck.1"
}

# cppcheck reads no system headers, so a header of ours defines the macros that are not expressions.
# Three checks are off: whether a condition that is a block of statements is used (WAIT_FOR),
# whether what a function points to can have changed, and a macro with __VA_OPT__, which cppcheck
# cannot read.
step_cppcheck() {
	needs cppcheck
	cppcheck --version
	cd "$TOP"
	cppcheck --quiet -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		-I src -I tests --include=tests/helper/cppcheck.h --suppress='constStatement:tests/persistence/*' \
		--suppress='identicalInnerCondition:tests/fuzz/*' --suppress=syntaxError:tests/unit/test-runfiles.c src tests
}

step_build() { gcc_build; }

step_hardening() {
	needs readelf
	gcc_build
	"$TOP/tests/check-hardening" agentdeck agentdeck-assess agentdeck-bell agentdeck-demo-agent agentdeck-capsule agentdeck-gate agentdeck-import agentdeck-ui agentdeck-view agentdeck-watch
}

step_checks() {
	gcc_build
	# shellcheck disable=SC2016 # make expands it
	make_check 'TESTS=$(TEXT_TESTS) $(SOURCE_CHECKS)' check_PROGRAMS= check_LIBRARIES=
	echo "$(find . -name '*.log' -path './[ts]*/*' | wc -l) passed, 0 failed"
}

step_unit() {	# [TEST...]
	gcc_build
	unit_tests "$@"
}

# clang's check of function types needs its C++ runtime, also in the programs that are C only.
sanitizers_build() {
	local flags='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=function -fno-sanitize-recover=undefined'
	needs clang
	build_in sanitizers --enable-werror CC=clang CXX=clang++ CFLAGS="$flags" CXXFLAGS="$flags" --disable-hardening
}

# The persistence program runs in no build but gcc's.
step_sanitizers() {
	sanitizers_build
	WITHOUT_PERSISTENCE=1 unit_tests
}

step_monkey() {
	local begin=$SECONDS seed=() seconds=60
	needs tmux
	sanitizers_build
	# in CI every run is the same, so that a finding there comes from the change
	[[ $STRICT != 1 ]] || seed=(--seed 1)
	[[ -z $SHARE ]] || seconds=$((SHARE - SECONDS + begin))
	PATH=$PWD:$PATH limit 1200 "$TOP/tests/monkey" "${seed[@]}" --seconds "$((seconds > 1 ? seconds : 1))"
}

# A hang is a failure, however long the machine takes for all of them. It ends the others, too: xargs ends
# at a 255.
TIDY_S=300	# seconds for four files; they take 4 on a machine that does nothing else
tidy_files() {	# FILE...
	export -f limit
	# shellcheck disable=SC2016 # the inner shell expands it
	printf '%s\0' "$@" | xargs -0 -n 4 -P "$(nproc)" bash -c 'status=0
		limit "$0" clang-tidy --quiet -p . "$@" || status=$?
		((status != 124 && status != 137)) || { echo "these: $*"; exit 255; }
		exit "$status"' "$TIDY_S"
}

# This uses the flags of the gcc build. It skips the C++ file: its header has 15,000 foreign lines.
step_tidy() {
	local files
	needs clang-tidy
	gcc_build
	make --no-print-directory -s -f - print-flags >compile_flags.txt <<-'END'
		include Makefile
		print-flags: ; @printf '%s\n' $(DEFS) $(AM_CPPFLAGS) $(filter-out -W%,$(AM_CFLAGS)) '-DTESTS_SOURCE=""' -std=gnu17
	END
	mapfile -t files < <(find "$TOP/src" "$TOP/tests" -name '*.c' | sort)
	tidy_files "${files[@]}" 2>&1 |
		{ grep -vE '^[0-9]+ warnings? (generated|treated)' || :; }
	echo "clang-tidy: ${#files[@]} files"
}

# Two checks of gcc 12's analyzer are off. null-argument does not know that vasprintf() sets its
# first argument. use-of-uninitialized-value wrongly reports a variable with a cleanup attribute
# after "continue". The analyzer of clang (step tidy) checks both, too.
step_analyzer() {
	build_in analyzer --enable-werror --disable-hardening CC=gcc CXX=g++ CXXFLAGS=-O0 \
		CFLAGS="-O0 -fanalyzer -Wno-analyzer-null-argument -Wno-analyzer-use-of-uninitialized-value"
}

step_coverage() {
	needs gcovr
	build_in coverage --disable-hardening CC=gcc CXX=g++ CFLAGS='-O0 -g --coverage' CXXFLAGS='-O0 -g --coverage'
	find . -name '*.gcda' -delete
	unit_tests
	gcovr --root "$TOP" --object-directory . --filter "$TOP/src/" --exclude-unreachable-branches --gcov-ignore-parse-errors \
		--print-summary . >coverage.txt
	cat coverage.txt
	awk '/^(lines|branches): / { sub(/:/, ""); out = out (out ? ", " : "") $1 " " $2 } END { print "coverage: " out }' coverage.txt
}

# One check is off for the C++ file: it needs another run-time.
step_fuzz() {
	local flags='-O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined'
	local begin=$SECONDS targets left
	needs clang
	configure_in fuzz CC=clang CXX=clang++ CFLAGS="$flags" CXXFLAGS="$flags -fno-sanitize=function" --disable-hardening
	limit 900 make --no-print-directory -j "$(nproc)" fuzzers LDFLAGS=-fsanitize=fuzzer
	# in CI every run is the same, so that a finding there comes from the change
	[[ $STRICT != 1 ]] || export AGENTDECK_FUZZ_SEED=${AGENTDECK_FUZZ_SEED:-1}
	if [[ -n $SHARE && -z ${AGENTDECK_FUZZ_SECONDS-} ]]; then
		targets=("$TOP"/tests/fuzz/fuzz-*.c)
		left=$(((SHARE - SECONDS + begin) * $(nproc) / ${#targets[@]}))
		export AGENTDECK_FUZZ_SECONDS=$((left < 5 ? 5 : left > 60 ? 60 : left))
	fi
	"$TOP/tests/fuzz/run" .
}

# This builds and tests what make dist packs, so a file that is missing there fails it.
step_without-systemd() {	# [TEST...]
	local version
	gcc_build
	limit 300 make --no-print-directory -s dist
	version=$(sed -n 's/^VERSION = //p' Makefile)
	rm -rf "$WORK/dist"
	mkdir "$WORK/dist"
	tar -xf "agentdeck-$version.tar.xz" -C "$WORK/dist" --strip-components=1
	rm "agentdeck-$version.tar.xz"
	SOURCE=$WORK/dist build_in without-systemd --without-systemd --without-libcurl --without-libgit2 --without-ncurses --without-sqlite --enable-werror CC=gcc CXX=g++
	become_user "$PWD" "$WORK/dist"
	MAY_SKIP=1 unit_tests "$@"
	(($#)) || tarball
}

tarball() {
	local options archive
	for options in '' --systemd; do
		limit 600 "$TOP/scripts/build-tarball" ${options:+"$options"} "$WORK/tarball" | tee "$WORK/tarball.said"
		archive=$(tail -n 1 "$WORK/tarball.said")
		limit 300 "$TOP/tests/tarball" "$archive"
	done
}

# Where the script has run before, as the README says, only the prefix differs.
# Its installer says why it cannot be installed.
step_reference() {
	local program
	needs python3
	gcc_build
	program=$(limit 700 "$TOP/tests/helper/install-agents" devcontainer "$WORK/reference")
	# also for a node that was installed beside it
	PATH=$WORK/gcc:$(dirname "$program"):$PATH AGENTDECK_TEST_DEVCONTAINER=$program limit 300 "$TOP/tests/unit/test-role-reference.py"
}

step_quickstart() {
	rm -rf "$WORK/quickstart-prefix"
	[[ -e $WORK/quickstart || ! -e $TOP/build/quickstart ]] || cp -a "$TOP/build/quickstart" "$WORK/quickstart"
	PREFIX=$WORK/quickstart-prefix BUILD=$WORK/quickstart limit 600 "$TOP/scripts/quickstart"
}

step_testhost() {
	limit_as_root 900 "$TOP/tests/testbed/test-testhost"
}

step_workspaces() {
	gcc_build agentdeck-assess
	limit 300 "$TOP/tests/workspaces/run" agentdeck-assess --cases
	limit 300 "$TOP/tests/workspaces/run" agentdeck-assess --hostile
}

step_histories() {
	local seconds=${SHARE:-60}
	gcc_build agentdeck-assess
	seconds=$((seconds > 120 ? 120 : seconds < 9 ? 9 : seconds))
	limit 600 "$TOP/tests/workspaces/run" agentdeck-assess --count 100000 --seconds $((seconds * 2 / 3))
	limit 600 "$TOP/tests/workspaces/run" agentdeck-assess --count 100000 --damage --seconds $((seconds / 3))
}

step_engines() {
	gcc_build tests/unit/test-engine-ladder
	limit_as_root 600 "$TOP/tests/engines" tests/unit/test-engine-ladder
}

step_slurm() {	# [CASE...]
	needs python3
	install_scratch
	limit_as_root 600 "$TOP/tests/slurm" "$@"
}

# The first time builds Kubernetes.
step_kubernetes() {	# [WORD...]: of tests/kubernetes
	needs python3
	install_scratch
	limit_as_root 7200 "$TOP/tests/kubernetes/run" --minutes 30 "$@"
}

# Once in a run: a test of the other lane may run what is installed. WORDS: what to make, too.
install_scratch() {	# [WORD...]
	local lock
	gcc_build "$@"
	exec {lock}>"$WORK/install.lock"
	flock "$lock"
	[[ -e $RESULTS/installed ]] || as_root make --no-print-directory -s install
	: >"$RESULTS/installed"
	exec {lock}>&-
}

# Those whose promise another test of the step persistence proves with the other engine, and those
# that search. The real claude has Docker there, and the user's podman after a reboot and with a login.
more_containers() {
	tests/persistence/persistence --list-containers | awk '
		{ names[NR] = $0; has[$0] = 1 }
		END {
			for (i = 1; i <= NR; i++) {
				twin = names[i]
				sub(/(Root)?Podman/, "Docker", twin)
				if (names[i] ~ /AtEachCall/ || (names[i] ~ /Podman/ && twin in has && (names[i] ~ /RootPodman/ || names[i] !~ /^RealClaude.*(Reboot|Login)/)))
					print names[i]
			}
		}'
}

step_more-containers() {
	local tests day begin=$SECONDS count=0 status=0
	install_scratch tests/persistence/persistence
	mapfile -t tests < <(more_containers)
	day=$((10#$(date +%j) * 7 % ${#tests[@]}))
	tests=("${tests[@]:day}" "${tests[@]::day}")
	while ((count < ${#tests[@]})); do
		[[ -z $SHARE ]] || ((count == 0 || SECONDS - begin + 6 * (SECONDS - begin) / count <= SHARE)) || break
		limit_as_root 1200 tests/persistence/persistence "${tests[@]:count:6}" || status=$?
		count=$((count + 6))
	done
	echo "containers: $((count < ${#tests[@]} ? count : ${#tests[@]})) of ${#tests[@]}"
	return "$status"
}

step_persistence() {	# [TEST...]
	local tests=("$@")
	install_scratch tests/persistence/persistence
	(($#)) || mapfile -t tests < <(tests/persistence/persistence --list | grep -vxFf <(more_containers))
	in_shards "${tests[@]}"
}

# A test waits most of the time, so up to five test hosts run side by side, each for five tests or
# more. Two others, with container engines, run the tests of containers. Each takes the next test when it
# is done with one. Those that took longest in the last run come first.
in_shards() {	# TEST...
	local n ran=0 names containers status=0 pids=()
	mapfile -t containers < <(tests/persistence/persistence --list-containers | grep -xFf <(printf '%s\n' "$@") | longest_first)
	mapfile -t names < <(printf '%s\n' "$@" | grep -vxFf <(tests/persistence/persistence --list-containers) | longest_first)
	rm -f "$WORK"/persistence-share-*
	start_shards 2 1 containers "${containers[@]}"
	start_shards 5 5 names "${names[@]}"
	for n in "${!pids[@]}"; do
		wait "${pids[n]}" || status=$?
		cat "$LOGS/persistence-$n.log"
		ran=$((ran + $(grep -c '^took ' "$LOGS/persistence-$n.log" || :)))
	done
	((status || ran == $#)) || { echo "FAILED: $ran of $# tests ran"; status=1; }
	return "$status"
}

# Names on standard input.
longest_first() {
	local times=$TIMES/persistence.tests
	[[ -e $times ]] || times=/dev/null
	awk 'FNR == NR && FILENAME != "-" { seconds[$2] = $1; next } { print seconds[$1] + 0, $1 }' "$times" - |
		sort -s -rn -k 1,1 | cut -d ' ' -f 2
}

HOST=()	# NAME=VALUE...: another system for the test hosts of the shards
start_shards() {	# MOST TESTS_OF_EACH NAME TEST...: adds to pids
	local i most=$1 each=$2 share=$WORK/persistence-share-$3
	shift 3
	for ((i = 0; i < most && i * each < $#; i++)); do
		limit_as_root 2400 env "${HOST[@]}" tests/persistence/persistence --share "$share" "$@" >"$LOGS/persistence-${#pids[@]}.log" 2>&1 &
		pids+=($!)
	done
}

# agentdeck is built in a copy of the system, and only what "make install" makes is kept.
persistence_in() {	# SYSTEM [TEST...]
	local prefix=$SCRATCH_PREFIX/$1 root tests=("${@:2}")
	gcc_build tests/persistence/persistence
	root=$(limit_as_root 1800 "$TOP/tests/testbed/testroot" make "$1")
	as_root mkdir -p "$prefix"
	# shellcheck disable=SC2016 # the inner shell expands it
	limit_as_root 1800 "$TOP/tests/testbed/testroot" run "$1" --bind "$TOP" --bind "$prefix" -- bash -euc '
		mkdir /tmp/build
		cd /tmp/build
		"$0/configure" -q --prefix="$1"
		make -s -j "$(nproc)"
		make -s install' "$TOP" "$prefix"
	((${#tests[@]})) || mapfile -t tests < <(tests/persistence/persistence --list | grep -vxFf <(tests/persistence/persistence --list-containers))
	HOST=(AGENTDECK_TEST_ROOT="$root" AGENTDECK_TEST_PREFIX="$prefix")
	in_shards "${tests[@]}"
}
step_persistence-debian13() { persistence_in debian13 "$@"; }
step_persistence-ubuntu24.04() { persistence_in ubuntu24.04 "$@"; }

step_chaos() {
	local half=${SHARE:+$((SHARE / 2))}
	needs python3
	install_scratch
	limit_as_root 300 "$TOP/tests/persistence/chaos" --boot
	limit_as_root 1800 "$TOP/tests/persistence/chaos" --seeds 11..12 --jobs 2 --steps 120 --without-supervisor ${SHARE:+--seconds "$half"}
	limit_as_root 2400 "$TOP/tests/persistence/chaos" --seeds 1..10 --jobs 2 --steps 120 ${SHARE:+--seconds "$half"}
}

step_kills() {
	local moments=$RANDOM
	needs python3 tmux ssh
	gcc_build
	AGENTDECK_TEST_KILLS=500 PATH=$PWD:$PATH limit 3600 "$TOP/tests/unit/test-link.py" a_change_is_made_at_most_once
	echo "AGENTDECK_TEST_SEED=$moments"
	AGENTDECK_TEST_KILLS=40 AGENTDECK_TEST_SEED=$moments PATH=$PWD:$PATH limit 1200 "$TOP/tests/unit/test-move-tree.py" a_move_is_killed_at_any_moment
}

step_vm() {
	needs python3
	install_scratch
	limit_as_root 1800 "$TOP/tests/persistence/vm"
	limit_as_root 1800 "$TOP/tests/persistence/vm-cuts"
	limit_as_root 1800 "$TOP/tests/persistence/chaos" --vm --seeds 1..1
}

step_agents() {	# [AGENT...]
	local agents=("$@") agent program cache=${AGENTDECK_TEST_CACHE:-/var/cache/agentdeck-tests} directories=()
	(($#)) || agents=(claude claude-new codex)
	install_scratch
	limit_as_root 1800 "$TOP/tests/persistence/real-agents" "${agents[@]}"
	(($# == 0)) || return 0
	# they are installed now; docs/comparison.md names commands of theirs
	for agent in claude-new codex; do
		program=$(limit_as_root 60 "$TOP/tests/helper/install-agents" "$agent" "$cache/$agent" | tail -n 1)
		directories+=("$(dirname "$program")")
	done
	limit 300 "$TOP/tests/check-comparison" --programs "${directories[@]}"
}

step_newest() {	# [AGENT...]
	install_scratch
	limit_as_root 3600 "$TOP/tests/persistence/real-agents" --newest "$@"
}

step_more-agents() {
	local agent begin=$SECONDS count=0
	install_scratch
	for agent in "${MORE_AGENTS[@]}"; do
		[[ -z $SHARE ]] || ((count == 0 || SECONDS - begin + (SECONDS - begin) / count <= SHARE)) || break
		limit_as_root 900 "$TOP/tests/persistence/real-agents" "$agent"
		count=$((count + 1))
	done
	echo "agents: $count of ${#MORE_AGENTS[@]}"
}

step_verify() {
	local host=$WORK/verify-host status=0
	testhost() { as_root "$TOP/tests/testbed/testhost" "$1" "$host" "${@:2}"; }
	install_scratch
	testhost down
	testhost up
	tar -C "$TOP" -cf - scripts | testhost root -- tar -C /srv --no-same-owner -xf -
	# its own login, which it can make and lose
	testhost ssh -- sh -c 'ssh-keygen -q -t ed25519 -N "" -f .ssh/id_ed25519 && cat .ssh/id_ed25519.pub >>.ssh/authorized_keys &&
		ssh-keyscan -t ed25519 localhost 127.0.0.1 >.ssh/known_hosts'
	limit_as_root 900 "$TOP/tests/testbed/testhost" ssh "$host" -- env AGENTDECK_TEST_STRICT="$STRICT" \
		PATH="$SCRATCH_PREFIX/bin:/usr/local/bin:/usr/bin:/bin" /srv/scripts/verify-session-persistence.sh --login ssh ||
		status=$?
	testhost down
	return "$status"
}

step_first-hour() {
	needs python3
	install_scratch
	limit_as_root 600 "$TOP/tests/persistence/first-hour"
	limit_as_root 300 "$TOP/scripts/make-picture" --reboot --check
}

step_package() {
	needs lintian
	gcc_build
	# not from the build that the other lane packs, too
	limit 600 "$TOP/scripts/build-deb" "$WORK/deb"
	limit_as_root 600 "$TOP/tests/persistence/package" "$WORK"/deb/agentdeck_*.deb
}

step_rpm() {
	gcc_build
	limit 1800 "$TOP/scripts/build-rpm" --build . --check "$WORK/rpm"
	limit 300 "$TOP/tests/foreign-package" "$WORK"/rpm/agentdeck-*.rpm .
}

step_arch() {
	gcc_build
	limit 1800 "$TOP/scripts/build-arch" --build . --check "$WORK/arch"
	limit 300 "$TOP/tests/foreign-package" "$WORK"/arch/agentdeck-*.pkg.tar.zst .
}

package_in() {	# SYSTEM
	gcc_build
	limit_as_root 1800 "$TOP/tests/testbed/testroot" make "$1"
	limit_as_root 2400 "$TOP/scripts/build-deb" --build . --check --in "$1" "$WORK/$1"
	limit_as_root 900 "$TOP/tests/persistence/package" --in "$1" "$WORK/$1"/agentdeck_*.deb
}
step_bare() { limit_as_root 3600 "$TOP/tests/bare"; }
step_release() { limit_as_root 5400 "$TOP/tests/release"; }
step_debian13() { package_in debian13; }
step_ubuntu24.04() { package_in ubuntu24.04; }

step_arm64() {
	gcc_build
	limit_as_root 1800 "$TOP/tests/testbed/testroot" make arm64
	limit_as_root 3600 "$TOP/scripts/build-arm64" --build . "$WORK/arm64"
}

step_musl() {
	gcc_build
	limit_as_root 1800 "$TOP/tests/testbed/testroot" make musl
	limit_as_root 1800 "$TOP/scripts/build-musl" --build . "$WORK/musl"
}

# What is packed is compiled only to see that nothing is missing: without optimisation, which takes less
# than half the time. Other steps build with it, and the step without-systemd runs the tests of the archive.
step_distcheck() {
	gcc_build
	# shellcheck disable=SC2016 # make expands them
	limit 1800 make --no-print-directory -j "$(nproc)" distcheck VERBOSE=1 \
		'TESTS=$(SOURCE_CHECKS)' \
		DISTCHECK_CONFIGURE_FLAGS='--disable-hardening CFLAGS=-O0 CXXFLAGS=-O0'
}
