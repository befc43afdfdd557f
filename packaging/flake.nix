# SPDX-License-Identifier: GPL-3.0-or-later
# @PACKAGE_URL@
# Not run here: Debian has no Nix. Copy this file to the root of an unpacked source archive, and run
# nix build there.
{
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in {
      packages = each (pkgs: {
        default = pkgs.stdenv.mkDerivation {
          pname = "agentdeck";
          version = "0.2.0";
          src = self;
          nativeBuildInputs = with pkgs; [ autoreconfHook pkg-config makeWrapper ];
          buildInputs = with pkgs; [ curl json_c libgit2 libuuid ncurses sqlite systemd tomlplusplus ];
          postPatch = "patchShebangs scripts";
          postInstall = "wrapProgram $out/bin/agentdeck --prefix PATH : ${pkgs.tmux}/bin";
        };
      });
    };
}
