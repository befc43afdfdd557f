#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-upgrade.bash - this program with the state that earlier versions have left
#
# USAGE
#   test-upgrade.bash [FIXTURE...]    only these (test_fixture: all); agentdeck is found in PATH
#
# tests/fixtures/state has a directory for each earlier format, named after the format of the index
# (index-9-files: made later, with more kinds of files).
# tests/helper/make-state made it with a build of that version, and says what is in it. Each test puts
# a copy into another home, and gives the rows of the index the stamps of the copied manifests: only
# its format says that the index is old.
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no python3 or no tmux
#
set -uo pipefail
export LC_ALL=C.UTF-8

for program in python3 tmux; do
	command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
fixtures=$(cd "${top_srcdir:-$(dirname "$0")/../..}/tests/fixtures/state" && pwd)
programs=$(dirname "$(command -v agentdeck)")
root=$(mktemp -d /tmp/agentdeck-upgrade-XXXXXX) || exit
home='' failures=0 fixture=''

fail() {
	echo "FAILED test_fixture: $fixture: $*"
	failures=$((failures + 1))
}
deck() {
	env -i "PATH=$PATH" "HOME=$home" "AGENTDECK_HOME=$home/deck" "TMPDIR=$home/tmp" SHELL=/bin/sh LC_ALL=C.UTF-8 \
		agentdeck "$@" </dev/null
}
must() {
	deck "$@" >"$root/out" 2>&1 || fail "$*: $(<"$root/out")"
}
finish() {
	[[ ! $home ]] || deck stop --all -q >/dev/null 2>&1
	rm -rf "$root"
}
trap finish EXIT

fresh() {
	local folder
	home=$root/$fixture
	cp -R "$fixtures/$fixture/home" "$home"
	cp -R "$fixtures/$fixture/deck" "$home/deck"
	mkdir -p "$home"/{tmp,api,web,docs}
	chmod -R u+w,go= "$home"
	find "$home" -type f -exec sed -i "s|/home/dev|$home|g; s|/home/build|$programs|g" {} +
	for folder in "$home"/.local/share/agentdeck-demo-agent/projects/*; do
		mv "$folder" "${folder%/*}/${home//[!a-zA-Z0-9]/-}-${folder##*-}"
	done
	python3 - "$home/deck/default" <<-'END'
		import os, sys
		index = sys.argv[1] + "/instances.json"
		lines = open(index).read().splitlines()
		for i, line in enumerate(lines[1:-1], 1):
		    st = os.stat(f"{sys.argv[1]}/{line[1:].split(chr(92))[0]}/instance.json")
		    stamp = f"{st.st_dev:x}:{st.st_ino:x}:{st.st_size:x}:{st.st_mtime_ns // 10**9:x}.{st.st_mtime_ns % 10**9:x}"
		    lines[i] = line[:line.rindex("\\t") + 2] + stamp + line[line.rindex('"'):]
		open(index, "w").write("\n".join(lines) + "\n")
	END
}

# The sessions as make-state has printed them for the other version.
same_sessions() {	# WHEN [FIELDS]
	local profile fields=${2:-1-}
	for profile in default other; do
		deck -p $profile list --json | python3 -c '
import json, sys
for row in json.load(sys.stdin):
    print(sys.argv[1], *(row.get(key) or "-" for key in ("id", "title", "group", "agent", "path", "session_id")), sep="\t")' $profile
	done | cut -f "$fields" | sort | diff <(sed "s|/home/dev|$home|g" "$fixtures/$fixture/expected" | cut -f "$fields" | sort) - || fail "it lists other sessions $1"
}

# Every key of a manifest is there when another key has changed, with the same value.
same_manifests() {
	python3 - "$home/deck" "$root/before" <<-'END' || fail "a change of the notes changes more"
		import glob, json, sys
		status = 0
		for path in glob.glob(sys.argv[1] + "/*/*/instance.json"):
		    old = json.load(open(path.replace(sys.argv[1], sys.argv[2])))
		    new = json.load(open(path))
		    if new.pop("notes", None) != "after the upgrade":
		        status = print(path, "has no notes") or 1
		    for key in old:
		        if old[key] != new.get(key):
		            status = print(path, key, old[key], new.get(key), sep="\n") or 1
		sys.exit(status)
	END
}

remembers() {	# TITLE TEXT
	must start "$1" --no-supervise
	must send "$1" --wait 'what do you remember?'
	grep -qF -- "$2" "$root/out" || fail "$1 does not remember $2: $(<"$root/out")"
}

# What was imported and removed since does not come back.
imported_once() {
	mkdir "$home/imported"
	must import directories --from "$home/directories"
	grep -q 'import.*again' "$root/out" || fail "it does not know what was imported: $(<"$root/out")"
	must import directories --from "$home/directories" --apply
	same_sessions "after an import"
}

second_home() {	# NAME
	home=$root/$1
	mkdir -p "$home"/{tmp,api,web,docs}
	mkdir -m 700 "$home/deck"
	printf '[tmux]\nlaunch_in_user_scope = false\nlinger = false\n' >"$home/deck/config.toml"
}

test_archives() {
	second_home restored
	must restore "$fixtures/$fixture/backup.tar" --map "/home/dev=$home" --apply
	# they have new ids, and what has said nothing yet has a new conversation
	same_sessions "after a restore" 1,3-6
	remembers api "the green door"
	remembers running "the blue window"
	must stop --all
	second_home imported
	must session import "$fixtures/$fixture/api.tar" --directory "$home/api"
	remembers api "the green door"
	must stop --all
}

test_fixture() {
	local profile id
	fresh
	same_sessions "at first"
	[[ ! -e $home/deck/imports.json ]] || imported_once
	cp -R "$home/deck" "$root/before"
	while IFS=$'\t' read -r profile id _; do
		must -p "$profile" session set "$id" notes "after the upgrade"
	done <"$fixtures/$fixture/expected"
	same_manifests
	same_sessions "after a change"
	remembers running "the blue window"
	must stop --all
	same_sessions "after a start"
	[[ ! -d $home/deck/default/.trash ]] || must undo gone
	rm -rf "$root/before" "$home"
	[[ ! -e $fixtures/$fixture/backup.tar ]] || test_archives
}

if (($# == 0)) || [[ $1 == test_fixture ]]; then
	cd "$fixtures" || exit 1
	set -- index-*
fi
for fixture; do
	test_fixture
	echo "$fixture"
done
home=''
[[ $failures != 0 ]] || echo "ok test_fixture"
echo "test-upgrade: $# formats, $failures failures"
((failures == 0))
