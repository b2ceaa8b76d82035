import { withGuideUrls } from '../../config.ts'
import { defineCommand } from '../command.ts'

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Find problems of this installation',
  description: [
    'It checks the settings, data folder, database, backups, clock, resolvers, blocklists, ports and mail relay. It reports problems (✗) and possible improvements (!), with fixes. An embedded database that is stopped is started for the check.',
  ],
  examples: [
    { does: 'Check the installation in this folder', command: 'portreeve doctor' },
    {
      does: 'The problems alone, for a script',
      command: `portreeve doctor --json | jq '.data[] | select(.state == "bad")'`,
    },
  ],
  exitCodes: { 0: 'no problems', 1: 'problems found' },
  async run({ json }) {
    const { examineAll, findingLine } = await import('./examine.ts')
    const findings = await examineAll()
    const text = json
      ? JSON.stringify({ success: true, data: findings }, null, 2)
      : findings.map(findingLine).join('\n')
    console.log(withGuideUrls(text))
    return findings.some(({ state }) => state === 'bad') ? 1 : 0
  },
})
