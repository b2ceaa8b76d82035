import type { Socket } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyText } from '../any-text.ts'
import { createLog } from '../../src/log.ts'
import { storeMalformed } from '../../src/webhooks/capture/malformed-requests.ts'
import { redactSessionCookies } from '../../src/webhooks/capture/session-cookies.ts'
import type { CapturedRequest } from '../../src/webhooks/requests/captured-request.ts'
import { readTarget } from '../../src/webhooks/capture/capture-target.ts'
import { within } from '../protocols/reports/hostile.ts'

const TOKEN = 'abcdefghij'
const PIECES = [
  'GET ',
  `/webhooks/${TOKEN}`,
  '/x?y',
  ' HTTP/1.1',
  '\r\n',
  '\n',
  ' ',
  '\t',
  'http://',
  '%',
  '\0',
  '\xff',
  'Cookie: portreeve.session_token=secret',
  ';',
]

describe('bytes that are no request', () => {
  it('are stored or dropped, without an accident and without session cookies', async () => {
    const kept: CapturedRequest[] = []
    const warnings: unknown[] = []
    const deps = {
      endpoints: { find: async () => ({ id: 'e' }) } as never,
      commits: {
        add: async (row: CapturedRequest) => {
          kept.push(row)
          return 'stored' as const
        },
      },
      trustedProxies: [],
      log: Object.assign(createLog('silent'), {
        warn: (...words: unknown[]) => void warnings.push(words),
      }),
    }
    const socket = { remoteAddress: '192.0.2.1' } as Socket
    const property = fc.asyncProperty(
      fc.array(fc.oneof(fc.constantFrom(...PIECES), anyText({ maxLength: 5 })), {
        maxLength: 20,
      }),
      async (pieces) => {
        const rawPacket = Buffer.from(pieces.join(''), 'latin1')
        await storeMalformed(Object.assign(new Error('x'), { rawPacket }), socket, deps)
      },
    )
    await fc.assert(property, { numRuns: 500 })
    expect(warnings).toEqual([])
    expect(kept.length).toBeGreaterThan(10)
    expect(kept.filter(({ body }) => /portreeve\.session_token=secret/.test(String(body)))).toEqual(
      [],
    )
  })

  it('are read in no time', () => {
    const read = (text: string) => [readTarget(text), redactSessionCookies(text)]
    within(
      read,
      ['/', '/webhooks/', 'http://', 'portreeve.', '__Host-', ' ', '?'],
      ['', '/webhooks/abcdefghij', 'http://'],
    )
  })
})
