# SPDX-License-Identifier: GPL-3.0-or-later
# Not run here: Debian has no Homebrew. Linux only. Replace the checksum by that of the source archive
# in SHA256SUMS.
class Agentdeck < Formula
  desc "Keeps AI coding agents alive, with their conversations"
  homepage "@PACKAGE_URL@"
  version "0.2.0"
  url "@PACKAGE_URL@/releases/download/v#{version}/agentdeck-#{version}.tar.xz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "GPL-3.0-or-later"

  depends_on "pkgconf" => :build
  depends_on "tomlplusplus" => :build
  depends_on "curl"
  depends_on "json-c"
  depends_on "libgit2"
  depends_on :linux
  depends_on "ncurses"
  depends_on "sqlite"
  depends_on "systemd"
  depends_on "tmux"
  depends_on "util-linux"

  def install
    system "./configure", *std_configure_args
    system "make", "install"
  end

  test do
    assert_match "agentdeck", shell_output("#{bin}/agentdeck version")
  end
end
