#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-notify-http.bash - scripts/notify-http and a server on this machine
#
# USAGE
#   test-notify-http.bash
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no curl or no python3
#
set -uo pipefail

for program in curl python3; do
	command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
done
tree=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
root=$(mktemp -d /tmp/agentdeck-notify-XXXXXX) || exit
server="" failures=0
trap '[[ -z $server ]] || kill "$server"; rm -rf "$root"' EXIT

fail() {
	echo "FAILED $*"
	failures=$((failures + 1))
}

# It writes down what it is sent, and refuses /refused.
python3 - "$root" <<'END' &
import http.server, os, sys

root = sys.argv[1]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with open(root + "/got.new", "w") as got:
            for name in ("Title", "Priority", "Authorization"):
                got.write(f"{name}: {self.headers[name]}\n")
            got.write(body)
        os.rename(root + "/got.new", root + "/got")
        self.send_response(403 if self.path == "/refused" else 200)
        self.end_headers()

    def log_message(self, *args):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(root + "/port.new", "w") as port:
    port.write(str(server.server_port))
os.rename(root + "/port.new", root + "/port")
server.serve_forever()
END
server=$!
for _ in $(seq 200); do
	[[ -e $root/port ]] && break
	read -rt 0.1 <> <(:) || true
done
printf 'url = "http://127.0.0.1:%s/topic"\nheader = "Authorization: Bearer s3cret"\n' "$(<"$root/port")" >"$root/curlrc"

# sends TITLE MESSAGE PRIORITY JSON
sends() {
	rm -f "$root/got"
	printf '%s\n' "$4" | "$tree/scripts/notify-http" "$root/curlrc" >"$root/out" 2>&1 || fail "$4: $(<"$root/out")"
	[[ $(<"$root/got") == "Title: $1"$'\n'"Priority: $3"$'\n'"Authorization: Bearer s3cret"$'\n'"$2" ]] ||
		fail "$4: sent $(<"$root/got")"
}

sends api 'api waits for you' high '{"occasion":"waiting","id":"x","title":"api","message":"api waits for you"}'
sends 'a "b" \c' 'it said: "message":"x" done' default \
	'{"occasion":"idle","title":"a \"b\" \\c","message":"it said: \"message\":\"x\"\ndone"}'
sends api - high '{"occasion":"error","title":"api","message":"-"}'

sed -i 's,/topic,/refused,' "$root/curlrc"
echo '{"title":"api","message":"x"}' | "$tree/scripts/notify-http" "$root/curlrc" >"$root/out" 2>&1 && fail "a refusal counts as sent"
grep -q 403 "$root/out" || fail "$(<"$root/out")"
"$tree/scripts/notify-http" "$root/missing" </dev/null >"$root/out" 2>&1
status=$?
[[ $status == 64 ]] || fail "a missing file: status $status"

[[ $failures == 0 ]] && echo "ok: notifications are sent"
[[ $failures == 0 ]]
