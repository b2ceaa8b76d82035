import { defineCommand } from '../command.ts'
import { LISTEN_FLAGS } from './listen-flags.ts'

export const listenCommand = defineCommand({
  name: 'listen',
  summary: 'Forward captured webhooks to a server on this machine',
  description: [
    'It forwards the captured requests of a webhook endpoint byte for byte and in order, until Ctrl-C. After a lost connection, it reconnects and continues.',
    'With --answer, senders get what the destination answers, several at a time, and 502 where it does not. Without an answer in time, they get the response of the endpoint.',
  ],
  operands: [{ name: 'TOKEN', summary: 'the last part of the endpoint’s URL, or its name' }],
  flags: LISTEN_FLAGS,
  examples: [
    {
      does: 'Forward to a server under development',
      command: 'portreeve listen AbC123xyz0 --to http://localhost:3000',
    },
    {
      does: 'Let that server answer the senders',
      command: 'portreeve listen AbC123xyz0 --to http://localhost:3000 --answer',
    },
  ],
  exitCodes: { 0: 'stopped by Ctrl-C', 1: 'the endpoint was deleted, or the service refused' },
  async run({ operands: [token = ''], flags, json }) {
    return (await import('./forward-requests.ts')).forwardRequests(token, flags, json)
  },
})
