import { defineCommand } from '../command.ts'
import { LISTEN_FLAGS } from './flags.ts'

export const listenCommand = defineCommand({
  name: 'listen',
  summary: 'Forward captured webhooks to a server on this machine',
  description: [
    'It forwards the captured requests of a webhook endpoint byte for byte and in order, until Ctrl-C. After a lost connection, it reconnects and continues.',
  ],
  operands: [{ name: 'TOKEN', summary: 'the last part of the endpoint’s URL' }],
  flags: LISTEN_FLAGS,
  examples: [
    {
      does: 'Forward to a server under development',
      command: 'portreeve listen AbC123xyz0 --to http://localhost:3000',
    },
  ],
  exitCodes: { 0: 'stopped by Ctrl-C', 1: 'the endpoint was deleted, or the service refused' },
  async run({ operands: [token = ''], flags, json }) {
    return (await import('./forward-requests.ts')).forwardRequests(token, flags, json)
  },
})
