class Remindb < Formula
  desc "@description@"
  homepage "@homepage@"
  version "@version@"
  license "MIT"

  on_linux do
    on_intel do
      url "@url@"
      sha256 "@sha256@"
    end
  end

  def install
    bin.install "bin/remindb"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/remindb"
    zsh_completion.install "share/zsh/site-functions/_remindb"
    fish_completion.install "share/fish/vendor_completions.d/remindb.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/remindb --version")
  end
end
