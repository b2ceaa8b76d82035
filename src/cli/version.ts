import { VERSION } from '../version.ts'
import { defineCommand } from './command.ts'
import { printResult } from './print-result.ts'

export const versionCommand = defineCommand({
  name: 'version',
  summary: 'Print the version',
  examples: [{ does: 'The version alone, on one line', command: 'portreeve version' }],
  async run({ json }) {
    return printResult({ version: VERSION }, json, VERSION)
  },
})
