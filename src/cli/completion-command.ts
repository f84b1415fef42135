/** Implements quern completion, which prints a script that completes commands, options and paths in a shell. */

import { Argument, type Command, type Option } from "commander";
import type { Call } from "./call.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletion(program: Command, { io }: Call): void {
  program
    .command("completion")
    .summary("print a completion script for a shell")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText(
      "after",
      `
  source <(quern completion bash)                                   # in ~/.bashrc
  source <(quern completion zsh)                                    # in ~/.zshrc, behind compinit
  quern completion fish > ~/.config/fish/completions/quern.fish`,
    )
    .action((shell: Shell) => void io.stdout.write(SCRIPTS[shell](program.commands)));
}

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Command[]) => string>> = {
  bash: (commands) => `_quern() {
  local current=\${COMP_WORDS[COMP_CWORD]} options= names=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(commands.map((one) => one.name()).join(" "))} -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map((one) => `    ${one.name()}) options=${quoted(longOptions(one).join(" "))} names=${quoted(subcommands(one).join(" "))} ;;`).join("\n")}
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *)
      if [ -n "$names" ]; then COMPREPLY=($(compgen -W "$names" -- "$current"))
      else COMPREPLY=($(compgen -f -- "$current")); fi
      ;;
  esac
}
complete -o filenames -F _quern quern
`,
  zsh: (commands) => `#compdef quern
_quern() {
  local -a options names
  if (( CURRENT == 2 )); then
    names=(${described(commands)})
    _describe command names
    return
  fi
  case $words[2] in
${commands.map((one) => `    ${one.name()}) options=(${optionsOf(one).map(zshOption).join(" ")}) names=(${described(one.commands)}) ;;`).join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then _describe option options
  elif (( $#names )); then _describe command names
  else _files; fi
}
compdef _quern quern
`,
  fish: (commands) =>
    commands
      .flatMap((one) => [
        fishCommand("__fish_use_subcommand", one),
        ...one.commands.map((inner) => fishCommand(fishAfter(one), inner)),
        ...optionsOf(one).map((option) => fishOption(fishAfter(one), option)),
      ])
      .join("\n") + "\n",
};

const optionsOf = (command: Command): Option[] => [
  ...command.options,
  ...command.commands.flatMap((one) => one.options),
];

const longOptions = (command: Command): string[] => [
  ...new Set(optionsOf(command).flatMap(({ long }) => long ?? [])),
];

const subcommands = ({ commands }: Command): string[] => commands.map((one) => one.name());

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const zshWord = (word: string, about: string): string =>
  quoted(`${word.replaceAll(":", "\\:")}:${about}`);

const described = (commands: readonly Command[]): string =>
  commands.map((one) => zshWord(one.name(), one.summary())).join(" ");

const zshOption = ({ long = "", description }: Option): string => zshWord(long, description);

const fishAfter = (command: Command): string =>
  quoted(`__fish_seen_subcommand_from ${command.name()}`);

const fishCommand = (when: string, command: Command): string =>
  `complete -c quern -n ${when} -a ${command.name()} -d ${quoted(command.summary())}`;

function fishOption(when: string, { long, short, required, description }: Option): string {
  const names = [
    ...(long ? [`-l ${long.slice(2)}`] : []),
    ...(short ? [`-s ${short.slice(1)}`] : []),
    ...(required ? ["-r"] : []),
  ];
  return `complete -c quern -n ${when} ${names.join(" ")} -d ${quoted(description)}`;
}
