# The packages of a shop; notHere = 1 is a comment
{
  description = "A shop";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-24.05";
  inputs.utils = {
    url = "github:numtide/flake-utils";
    inputs.nixpkgs.follows = "nixpkgs";
  };

  outputs = { self, nixpkgs, utils, ... }@inputs:
    let
      version = "1.2";
      mkShop = name: { port ? 80, ... }: {
        inherit name port;
        text = "notHere = ${toString port};";
      };
    in
    {
      packages.x86_64-linux.default = mkShop "shop" { };
      "quoted-name" = rec {
        first = 1;
        second = first + 1;
      };
      overlay = final: prev: {
        shop = prev.shop.overrideAttrs (old: {
          patches = (old.patches or [ ]) ++ [ ./fix.patch ];
        });
      };
      script = ''
        notHere = 2
        echo ${version}
      '';
      inherit (nixpkgs.lib) mkIf;
    };
}
