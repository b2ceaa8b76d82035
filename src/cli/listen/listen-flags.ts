import type { Flags, FlagValues } from '../command.ts'
import { SERVICE_FLAGS } from '../service-access.ts'

export const LISTEN_FLAGS = {
  to: {
    value: 'URL',
    required: true,
    summary: 'destination; the path after the token is appended',
  },
  server: SERVICE_FLAGS.server,
  all: { summary: 'start with the requests already stored' },
  answer: { summary: 'send the answers of the destination to the senders' },
  hold: {
    value: 'SECONDS',
    summary: 'how long a sender waits for its answer: 1 to 25, 9 by default',
  },
  'api-token-file': SERVICE_FLAGS['api-token-file'],
  json: { summary: 'print one JSON line per request' },
} as const satisfies Flags

export type ListenFlags = FlagValues<typeof LISTEN_FLAGS>
