import { defineCommand, type CliCommand } from '../command.ts'
import { printResult } from '../print-result.ts'
import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

/** The command `completion`, for the commands below `root`. */
export function completionCommand(root: () => CliCommand): CliCommand {
  return defineCommand({
    name: 'completion',
    summary: 'Print a completion script for bash, zsh or fish',
    operands: [{ name: 'SHELL', summary: 'bash, zsh or fish', choices: Object.keys(SCRIPTS) }],
    examples: [
      {
        does: 'bash, for all users',
        command: 'portreeve completion bash > /etc/bash_completion.d/portreeve',
      },
      {
        does: 'zsh, in a folder of fpath',
        command: 'portreeve completion zsh > "${fpath[1]}/_portreeve"',
      },
      {
        does: 'fish',
        command: 'portreeve completion fish > ~/.config/fish/completions/portreeve.fish',
      },
    ],
    async run({ operands: [shell = 'bash'], json }) {
      const script = SCRIPTS[shell as keyof typeof SCRIPTS](root())
      return printResult({ shell, script }, json, script)
    },
  })
}
