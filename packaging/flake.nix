# Builds the program from these sources: nix run 'git+ADDRESS?dir=packaging'. The installers of a release have a
# flake that takes the programs of the release.
{
  description = "Finds Ed25519 SSH keys whose public key text contains a word you choose";

  inputs.nixpkgs.url = "nixpkgs";

  outputs = { self, nixpkgs }:
    let
      manifest = (builtins.fromTOML (builtins.readFile ../Cargo.toml)).workspace.package;
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      package = system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "vanity-ed25519";
            inherit (manifest) version;
            src = ../.;
            cargoLock.lockFile = ../Cargo.lock;
            cargoBuildFlags = [ "--package" "vanity-ed25519" "--bin" "vanity-ed25519" ];
            buildFeatures = [ "gpu" ];
            # The tests use real tools, such as sshd.
            doCheck = false;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            postInstall = ''
              $out/bin/vanity-ed25519 --man > vanity-ed25519.1
              installManPage vanity-ed25519.1
              for shell in bash zsh fish; do
                $out/bin/vanity-ed25519 --completions $shell > vanity-ed25519.$shell
                installShellCompletion --cmd vanity-ed25519 --$shell vanity-ed25519.$shell
              done
            '';
            doInstallCheck = true;
            installCheckPhase = "$out/bin/vanity-ed25519 --quiet ab > /dev/null";
            meta = {
              description = "Finds Ed25519 SSH keys whose public key text contains a word you choose";
              homepage = manifest.repository;
              license = with pkgs.lib.licenses; [ mit asl20 ];
              mainProgram = "vanity-ed25519";
              platforms = systems;
            };
          };
        };
    in { packages = nixpkgs.lib.genAttrs systems package; };
}
