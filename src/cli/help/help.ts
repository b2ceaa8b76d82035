import { VERSION } from '../../version.ts'
import { defineCommand, type CliCommand } from '../command.ts'
import { findCommand } from '../parse.ts'
import { helpText } from './help-text.ts'
import { manPage } from './man-page.ts'

/** The command `help`, for the commands below `root`. */
export function helpCommand(root: () => CliCommand): CliCommand {
  return defineCommand({
    name: 'help',
    summary: 'Show the help of a command',
    operands: [{ name: 'COMMAND', optional: true, multiple: true }],
    flags: { man: { summary: 'print the manual page, for man' } },
    examples: [
      { does: 'The flags and examples of one command', command: 'portreeve help check ssl' },
      { does: 'The manual page', command: 'portreeve help --man | man -l -' },
    ],
    async run({ flags, operands, json }) {
      const text = flags.man
        ? manPage(root(), VERSION)
        : helpText(findCommand(root(), operands).path)
      console.log(json ? JSON.stringify({ success: true, data: { text } }) : text)
      return 0
    },
  })
}
