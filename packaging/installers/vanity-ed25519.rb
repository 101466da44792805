# For a tap of Homebrew.
class VanityEd25519 < Formula
  desc "Finds Ed25519 SSH keys whose public key text contains a word you choose"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  #BEGIN aarch64-apple-darwin
  on_macos do
    on_arm do
      url "@URL aarch64-apple-darwin.tar.gz@"
      sha256 "@SHA256 aarch64-apple-darwin.tar.gz@"
    end
  end
  #END
  #BEGIN x86_64-apple-darwin
  on_macos do
    on_intel do
      url "@URL x86_64-apple-darwin.tar.gz@"
      sha256 "@SHA256 x86_64-apple-darwin.tar.gz@"
    end
  end
  #END
  #BEGIN aarch64-unknown-linux-gnu
  on_linux do
    on_arm do
      url "@URL aarch64-unknown-linux-gnu.tar.gz@"
      sha256 "@SHA256 aarch64-unknown-linux-gnu.tar.gz@"
    end
  end
  #END
  #BEGIN x86_64-unknown-linux-gnu
  on_linux do
    on_intel do
      url "@URL x86_64-unknown-linux-gnu.tar.gz@"
      sha256 "@SHA256 x86_64-unknown-linux-gnu.tar.gz@"
    end
  end
  #END

  def install
    bin.install "vanity-ed25519"
    man1.install "vanity-ed25519.1"
    bash_completion.install "completions/vanity-ed25519.bash" => "vanity-ed25519"
    zsh_completion.install "completions/_vanity-ed25519"
    fish_completion.install "completions/vanity-ed25519.fish"
    doc.install Dir["LICENSES-*"]
  end

  test do
    system bin/"vanity-ed25519", "--quiet", "-o", testpath/"id_ab", "ab"
    assert_match "OPENSSH PRIVATE KEY", (testpath/"id_ab").read
  end
end
