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
  local current=\${COMP_WORDS[COMP_CWORD]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(commands.map((one) => one.name()).join(" "))} -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map((one) => `    ${one.name()}) words=${quoted(wordsOf(one).join(" "))} ;;`).join("\n")}
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -o filenames -F _quern quern
`,
  zsh: (commands) => `#compdef quern
_quern() {
  local -a found
  if (( CURRENT == 2 )); then
    found=(${commands.map((one) => described(one.name(), one.summary())).join(" ")})
    _describe command found
    return
  fi
  case $words[2] in
${commands.map((one) => `    ${one.name()}) found=(${optionsOf(one).map(zshOption).join(" ")}) ;;`).join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then _describe option found; else _files; fi
}
compdef _quern quern
`,
  fish: (commands) =>
    commands
      .flatMap((one) => [
        `complete -c quern -n __fish_use_subcommand -a ${one.name()} -d ${quoted(one.summary())}`,
        ...optionsOf(one).map((option) => fishOption(one.name(), option)),
      ])
      .join("\n") + "\n",
};

const optionsOf = (command: Command): Option[] => [
  ...command.options,
  ...command.commands.flatMap((one) => one.options),
];

/** Returns what may follow a command: its subcommands and its options. */
const wordsOf = (command: Command): string[] => [
  ...command.commands.map((one) => one.name()),
  ...new Set(optionsOf(command).flatMap(({ long }) => long ?? [])),
];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const described = (word: string, about: string): string =>
  quoted(`${word.replaceAll(":", "\\:")}:${about}`);

const zshOption = ({ long = "", description }: Option): string => described(long, description);

function fishOption(command: string, { long, short, required, description }: Option): string {
  const names = [
    ...(long ? [`-l ${long.slice(2)}`] : []),
    ...(short ? [`-s ${short.slice(1)}`] : []),
    ...(required ? ["-r"] : []),
  ];
  return `complete -c quern -n '__fish_seen_subcommand_from ${command}' ${names.join(" ")} -d ${quoted(description)}`;
}
