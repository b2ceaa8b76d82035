import { defineCommand } from '../command.ts'
import { SERVICE_FLAGS } from '../service-access.ts'

export const problemsCommand = defineCommand({
  name: 'problems',
  summary: 'List the problems of your workspace',
  description: [
    'It lists what the overview of the dashboard shows, with a link to each: listed hosts, broken domains, certificates, failed migrations, and delistings that need your action. Then follows what is left to set up.',
    'The workspace is that of the API token. A token with scopes needs `workspace:read`, and lists the problems of the modules that it may read.',
  ],
  flags: SERVICE_FLAGS,
  examples: [
    { does: 'The problems of a workspace', command: 'portreeve problems' },
    {
      does: 'Their number, for a script',
      command: 'portreeve problems --json | jq .data.count',
    },
  ],
  exitCodes: {
    0: 'no problems',
    1: 'problems were found, or a module could not be read',
  },
  async run({ flags, json }) {
    return (await import('./list-problems.ts')).listProblems(flags, json)
  },
})
