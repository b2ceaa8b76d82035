import { defineCommand, type Flag } from '../command.ts'
import { OPTION_GROUPS, OPTIONS, type Option } from './imapsync-options.ts'

const namesOf = (options: Readonly<Record<string, Option>>) =>
  Object.keys(options)
    .map((name) => `--${name}`)
    .join(', ')

/** The options that have an effect. */
const FLAGS = Object.fromEntries(
  Object.entries(OPTIONS)
    .filter(([, { effect }]) => effect === 'used' || effect === 'deletes')
    .map(([name, { summary, value, multiple, effect }]): [string, Flag] => [
      name,
      {
        summary: effect === 'deletes' ? `${summary}; needs --confirm-deletion` : summary,
        ...(value !== undefined && { value }),
        ...(multiple && { multiple }),
        ...(value === 'FILE' && { completes: 'file' as const }),
      },
    ]),
)

export const imapsyncCommand = defineCommand({
  name: 'imapsync',
  summary: 'Copy a mailbox with the options and output of imapsync',
  description: [
    'It takes the command line of imapsync, so that control panels and scripts can call it: by this command, or by a symbolic link named imapsync. The engine, the verification and the state for resuming are those of “portreeve migrate”. It needs no service and no database.',
    'Options can be shortened to a unique beginning, and switches are turned off by no: --nolog. Passwords can come from IMAPSYNC_PASSWORD1 and IMAPSYNC_PASSWORD2.',
    'Options that delete messages end with code 64 unless --confirm-deletion is given or PORTREEVE_CONFIRM_DELETION=yes is set. Messages are deleted at the end, in copied folders only, and only after every message was copied and verified.',
    `Accepted without effect: ${namesOf(OPTION_GROUPS.Accepted)}.`,
    `Refused: ${namesOf(OPTION_GROUPS.Refused)}.`,
    'Exit codes: 0 done, 6 ended by a signal, 8 another run is in progress, 12 TLS, 64 usage, 101 and 102 connection, 111 and 113 to 117 messages or folders that were not copied, 112 too many errors, 118 --exitwhenover, 161 and 162 sign-in, 1 another error. Every option: /docs/guide/imapsync-options.html',
  ],
  flags: FLAGS,
  hasOwnSyntax: true,
  examples: [
    {
      does: 'Copy a mailbox',
      command:
        'portreeve imapsync --host1 old.example.com --user1 alice --passfile1 old.txt --host2 new.example.com --user2 alice --passfile2 new.txt --automap',
    },
    {
      does: 'Replace imapsync for a control panel',
      command: 'ln -s "$(command -v portreeve)" /usr/local/bin/imapsync',
    },
  ],
  async run({ operands }) {
    return (await import('./run-imapsync.ts')).runImapsync(operands)
  },
})
