# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# lib.sh - what the scripts share; sourced, never run
#
#   manual                  print the header comment of the script, which is its manual
#   has PROGRAM             whether the program is in PATH
#   as_root COMMAND...      run it directly as root, else with sudo
#   run_logged LABEL LOG COMMAND...
#                           run it (or a function, under set -e) with its output in LOG, and show
#                           LABEL and the time while it runs. This never fails: STATUS has the
#                           exit status, TOOK the seconds. Do not call it in a condition: set -e
#                           would have no effect on COMMAND.
#   make_configure          run autoreconf where configure is missing or older than its sources
#   pack_programs DIRECTORY WHERE
#                           put DIRECTORY.tar.gz and its .sha256 into WHERE, the same for the same
#                           files, and print its path
#   this_system             print the name of this system and its version, as debian12
#   choose_key KEY DIR      take a key of the user's gpg keyring, or import the file KEY into a keyring
#                           in DIR. SIGNER has its fingerprint
#   end_agent               end the gpg-agent of that keyring
#   BOLD DIM RED GREEN YELLOW PLAIN    colours; empty without a terminal, or with NO_COLOR
#
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
BOLD='' DIM='' RED='' GREEN='' YELLOW='' PLAIN=''
if [[ -t 1 && -z ${NO_COLOR-} && ${TERM-dumb} != dumb ]]; then
	BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' GREEN=$'\e[32m' YELLOW=$'\e[33m' PLAIN=$'\e[m'
fi
# shellcheck disable=SC2034  # for the scripts
readonly BOLD DIM RED GREEN YELLOW PLAIN

manual() { sed -n '4,/^set -euo/{/^#/s/^# \{0,1\}//p}' "$0"; }
has() { command -v "$1" >/dev/null 2>&1; }

as_root() {
	if ((EUID == 0)); then
		"$@"
	elif has sudo; then
		sudo -- "$@"
	else
		echo "${0##*/}: this needs root rights: run it as root, or install sudo" >&2
		return 1
	fi
}

# On a terminal, this overwrites one line each second. Elsewhere it writes the line once, and only
# when the command takes longer than a second.
show_progress() {	# LABEL
	local start=$SECONDS
	# $$ is the script, which may have been interrupted
	while sleep 1 && kill -0 $$ 2>/dev/null; do
		if [[ -t 1 ]]; then
			printf '\r%s ... %d s' "$1" $((SECONDS - start))
		else
			printf '%s ...\n' "$1"
			return 0
		fi
	done
}

run_logged() {	# LABEL LOG COMMAND...
	local label=$1 log=$2 start=$SECONDS ticker
	shift 2
	mkdir -p "${log%/*}"
	show_progress "$label" &
	ticker=$!
	set +e
	(
		set -e
		"$@"
	) >"$log" 2>&1
	# shellcheck disable=SC2034  # a result
	STATUS=$?
	set -e
	# its sleep ends by itself, and has nothing open but the terminal
	kill "$ticker" 2>/dev/null || :
	wait "$ticker" 2>/dev/null || :
	# shellcheck disable=SC2034  # a result
	TOOK=$((SECONDS - start))
	[[ ! -t 1 ]] || printf '\r\e[K'
}

make_configure() {	# TREE
	if [[ ! -x $1/configure || ! -e $1/Makefile.in || $1/configure.ac -nt $1/configure || $1/Makefile.am -nt $1/Makefile.in ]]; then
		(cd "$1" && autoreconf -fi)
	fi
}

pack_programs() {	# DIRECTORY WHERE
	local name=${1##*/}
	tar -C "${1%/*}" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -cf "$1.tar" "$name"
	gzip -n9 "$1.tar"
	(cd "${1%/*}" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
	mv -f "$1.tar.gz" "$1.tar.gz.sha256" "$2/"
	echo "$2/$name.tar.gz"
}

# shellcheck source=/dev/null
this_system() { (. /etc/os-release && echo "$ID${VERSION_ID-}"); }

KEYRING=
choose_key() {	# KEY DIR
	has gpg || { echo "${0##*/}: gpg is missing (Debian package: gnupg)" >&2; exit 1; }
	if [[ -f $1 ]]; then
		KEYRING=$2/gnupg
		mkdir -m 700 "$KEYRING"
		export GNUPGHOME=$KEYRING
		gpg --batch --quiet --import "$1"
		set -- ''
	fi
	# gpg fails where there is none
	SIGNER=$({ gpg --batch --with-colons --list-secret-keys ${1:+"$1"} 2>/dev/null || :; } | awk -F : '/^fp/ { print $10; exit }')
	[[ $SIGNER ]] || { echo "${0##*/}: there is no secret key $1: gpg --list-secret-keys has yours" >&2; exit 2; }
}
end_agent() { [[ ! $KEYRING ]] || gpgconf --homedir "$KEYRING" --kill gpg-agent; }
