import { findCommit, VERSION } from '../version.ts'
import { defineCommand } from './command.ts'
import { printResult } from './print-result.ts'

export const versionCommand = defineCommand({
  name: 'version',
  summary: 'Print the version and its commit',
  examples: [
    { does: 'The version, with its commit', command: 'portreeve version' },
    {
      does: 'The version alone, for a script',
      command: 'portreeve version --json | jq -r .data.version',
    },
  ],
  async run({ json }) {
    const commit = findCommit()
    const text = commit === null ? VERSION : `${VERSION} (commit ${commit})`
    return printResult({ version: VERSION, commit }, json, text)
  },
})
