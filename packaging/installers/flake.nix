{
  description = "Finds Ed25519 SSH keys whose public key text contains a word you choose";

  inputs.nixpkgs.url = "nixpkgs";

  outputs = { self, nixpkgs }:
    let
      version = "@VERSION@";
      # The programs of the release. Those for Linux are static.
      archives = {
        #BEGIN x86_64-unknown-linux-musl
        x86_64-linux = {
          url = "@URL x86_64-unknown-linux-musl.tar.gz@";
          hash = "@SRI x86_64-unknown-linux-musl.tar.gz@";
        };
        #END
        #BEGIN aarch64-unknown-linux-musl
        aarch64-linux = {
          url = "@URL aarch64-unknown-linux-musl.tar.gz@";
          hash = "@SRI aarch64-unknown-linux-musl.tar.gz@";
        };
        #END
        #BEGIN x86_64-apple-darwin
        x86_64-darwin = {
          url = "@URL x86_64-apple-darwin.tar.gz@";
          hash = "@SRI x86_64-apple-darwin.tar.gz@";
        };
        #END
        #BEGIN aarch64-apple-darwin
        aarch64-darwin = {
          url = "@URL aarch64-apple-darwin.tar.gz@";
          hash = "@SRI aarch64-apple-darwin.tar.gz@";
        };
        #END
      };
      package = system: archive:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.stdenvNoCC.mkDerivation {
            pname = "vanity-ed25519";
            inherit version;
            src = pkgs.fetchurl archive;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            installPhase = ''
              runHook preInstall
              install -Dm755 -t $out/bin vanity-ed25519
              installManPage vanity-ed25519.1
              installShellCompletion --bash completions/vanity-ed25519.bash
              installShellCompletion --zsh completions/_vanity-ed25519
              installShellCompletion --fish completions/vanity-ed25519.fish
              install -Dm644 -t $out/share/doc/vanity-ed25519 LICENSE*
              runHook postInstall
            '';
            doInstallCheck = true;
            installCheckPhase = "$out/bin/vanity-ed25519 --quiet ab > /dev/null";
            meta = {
              description = "Finds Ed25519 SSH keys whose public key text contains a word you choose";
              homepage = "@REPOSITORY@";
              license = with pkgs.lib.licenses; [ mit asl20 ];
              mainProgram = "vanity-ed25519";
              platforms = builtins.attrNames archives;
              sourceProvenance = [ pkgs.lib.sourceTypes.binaryNativeCode ];
            };
          };
        };
    in { packages = builtins.mapAttrs package archives; };
}
