# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# covers.bash - which tests cover a source file, for check-modules and scripts/tests-for
#
# SOURCED, in the root of a checkout
#
# The unit test of src/base/clock.h and clock.c is tests/unit/test-clock.c, if it includes a header of
# src/base/. The name alone says nothing: several folders have a file of the same name. COVERS has
# what else covers a file.

# a file without its ending, or a folder|tests, and steps of scripts/test
# shellcheck disable=SC2034 # for those who source it
COVERS=(
	"src/assess/|tests/unit/test-assess.c"
	"src/base/banned|build"
	"src/base/jsonwrite|tests/unit/test-jsonio.c"
	"src/base/libc|musl"
	"src/base/macro|unit"
	"src/base/systemd|tests/unit/test-bus.c"
	"src/base/termsize|tests/unit/test-start-states.c"
	"src/base/tomlschema|tests/unit/test-schema.py"
	"src/model/settings/schema|tests/unit/test-schema.py"
	"src/base/tomltext|tests/unit/test-tomledit.c"
	"src/base/version|tests/check-scripts"
	"src/bell/|tests/unit/test-wall.bash tests/unit/test-bell.bash"
	"src/capsule/|tests/unit/test-capsule.c"
	"src/cli/import/|tests/unit/test-import.bash"
	"src/cli/link/mcp|tests/unit/test-mcp.py"
	"src/driver/web/|tests/unit/test-phone.py"
	"src/engine/answer/|tests/unit/test-phone.py"
	"src/engine/supervise/supervise-answers|tests/unit/test-phone.py"
	"src/cli/link/|tests/unit/test-link.py tests/unit/test-interface.py"
	"src/cli/main/|tests/unit/test-cli.bash tests/unit/test-hosts.py"
	"src/driver/link/|tests/unit/test-hosts.py"
	"src/engine/hosts/|tests/unit/test-hosts.py"
	"src/engine/hosts/way|tests/unit/test-cluster.py"
	"src/cli/cmd/host|tests/unit/test-cluster.py"
	"src/cli/cmd/host-create|tests/unit/test-slurm.py"
	"src/engine/hosts/slurm|tests/unit/test-slurm.py"
	"src/model/host/slurm|tests/unit/test-slurm.py"
	"src/engine/terminal/seat|tests/unit/test-hosts.py"
	"src/cli/|tests/unit/test-cli.bash tests/unit/test-manual.bash"
	"src/demo/|tests/unit/test-demo.c"
	"src/driver/follow/|tests/unit/test-follow.c"
	"src/driver/foreign/|tests/unit/test-import.bash"
	"src/driver/git/branch|tests/unit/test-tree.c"
	"src/driver/git/cargo|tests/unit/test-move-tree.py"
	"src/driver/git/confined|tests/unit/test-git-confined.c tests/unit/test-tree.c"
	"src/driver/git/snapshot|tests/unit/test-role-git.bash"
	"src/driver/git/snapshot-files|tests/unit/test-role-git.bash"
	"src/driver/git/linked|tests/unit/test-git-linked.c"
	"src/driver/store/index-file|tests/unit/test-store-index.c"
	"src/driver/store/reserve|tests/persistence/test-faults-files.c"
	"src/driver/store/store-watch|tests/unit/test-store.c"
	"src/engine/adopt/|tests/unit/test-cli.bash tests/persistence/test-adopt.c"
	"src/engine/conversation/discover|tests/unit/test-cli.bash"
	"src/engine/conversation/unreported|tests/unit/test-report-moves.c"
	"src/engine/deck/|tests/unit/test-cli.bash"
	"src/engine/export/arrive|tests/unit/test-move.py tests/unit/test-move-tree.py"
	"src/engine/export/move-tree|tests/unit/test-move-tree.py"
	"src/engine/export/|tests/unit/test-export.bash"
	"src/engine/import/|tests/unit/test-import.bash"
	"src/engine/place/container/|tests/unit/test-place-engine.c tests/unit/test-reconcile-strays.c"
	"src/engine/place/gaps|tests/unit/test-lifecycle.c"
	"src/engine/place/|tests/unit/test-cli.bash tests/persistence/test-place.c"
	"src/engine/reconcile/|tests/unit/test-reconcile-strays.c"
	"src/engine/role/|tests/unit/test-source.c tests/unit/test-role-git.bash"
	"src/engine/roster/|tests/unit/test-dashboard.bash tests/unit/test-cli.bash"
	"src/engine/run/|tests/unit/test-lifecycle.c"
	"src/engine/screen/recipient|tests/unit/test-deliver-terminal.c tests/unit/test-permit.c"
	"src/base/spawner|tests/unit/test-main.py"
	"src/engine/supervise/mainprogram|tests/unit/test-main.py"
	"src/engine/supervise/lease|tests/unit/test-main.py slurm"
	"src/engine/supervise/takeover|tests/unit/test-main.py slurm"
	"src/engine/supervise/|tests/persistence/test-supervise.c"
	"src/engine/terminal/bell|tests/unit/test-wall.bash"
	"src/engine/terminal/kind|tests/unit/test-dashboard.bash tests/unit/test-attach.bash"
	"src/engine/workspace/branch|tests/unit/test-tree.c"
	"src/driver/forge/|tests/unit/test-bring-push.c"
	"src/driver/git/merge|tests/unit/test-bring.c"
	"src/driver/git/submodule|tests/unit/test-bring.c"
	"src/engine/workspace/tree-changes|tests/unit/test-changes.c"
	"src/engine/workspace/orphan|tests/unit/test-tree.c"
	"src/gate/|tests/unit/test-cli.bash"
	"src/main|tests/unit/test-cli.bash"
	"src/model/link/rpc|tests/unit/test-mcp.py"
	"src/model/link/tools|tests/unit/test-mcp.py"
	"src/model/link/|tests/unit/test-link.py tests/unit/test-interface.py"
	"src/model/role/role-what|tests/unit/test-role-git.bash"
	"src/model/agent/agent|tests/unit/test-registry.c"
	"src/model/agent/question|tests/unit/test-permission.c tests/unit/test-registry-check.c"
	"src/model/agent/registry-data|tests/unit/test-registry.c"
	"src/model/agent/registry-parse|tests/unit/test-registry-check.c"
	"src/model/session/manifest|tests/unit/test-instance.c tests/unit/test-store.c"
	"src/ui/draw/|tests/unit/test-draw.c tests/unit/test-ui-play.c tests/unit/test-dashboard.bash tests/unit/test-wall.bash"
	"src/ui/main/links|tests/unit/test-hosts.py"
	"src/ui/main/|tests/unit/test-dashboard.bash tests/unit/test-bell.bash tests/unit/test-attach.bash tests/unit/test-wall.bash"
	"src/model/question/questions|tests/unit/test-ui-ask.c tests/unit/test-cli.bash"
	"src/ui/state/list-paths|tests/unit/test-list.c"
	"src/ui/state/wall|tests/unit/test-draw.c tests/unit/test-wall.bash"
	"src/ui/state/welcome|tests/unit/test-ui.c tests/unit/test-draw.c"
	"src/ui/term/|tests/unit/test-term-keys.c tests/unit/test-draw.c tests/unit/test-dashboard.bash"
	"src/view/|tests/unit/test-view.c"
	"src/watch/|tests/unit/test-cli.bash"
)

# unit_test_of FILE [exact]: the unit test of a module, or else of the longest beginning of its name
# that has one.
unit_test_of() {
	local stem=${1##*/} folder=${1%/*} fixtures
	stem=${stem%.*} folder=${folder#src}
	while [[ ! -e tests/unit/test-$stem.c ]]; do
		[[ $stem == *-* && ! ${2-} ]] || return 0
		stem=${stem%-*}
	done
	mapfile -t fixtures < <(sed -n 's|^#include "\(unit/[a-z-]*\.h\)"$|tests/\1|p' "tests/unit/test-$stem.c")
	! grep -qF "#include \"${folder#/}/" "tests/unit/test-$stem.c" "${fixtures[@]}" || echo "tests/unit/test-$stem.c"
}

# covers FILE ROW: whether a row of COVERS is about it
covers() { [[ ${1%.*} == "${2%%|*}" || ${1%.*} == "${2%%|*}-internal" || (${2%%|*} == */ && $1 == "${2%%|*}"*) ]]; }
