import type { Flags, FlagValues } from '../command.ts'

export const LISTEN_FLAGS = {
  to: {
    value: 'URL',
    required: true,
    summary: 'destination; the path after the token is appended',
  },
  server: { value: 'URL', summary: 'URL of the service', defaultText: 'BASE_URL' },
  all: { summary: 'start with the requests already stored' },
  'api-token-file': {
    value: 'FILE',
    completes: 'file',
    summary: 'file with an API token',
    defaultText: 'PORTREEVE_API_TOKEN, or a prompt',
  },
  json: { summary: 'print one JSON line per request' },
} as const satisfies Flags

export type ListenFlags = FlagValues<typeof LISTEN_FLAGS>
