import { describe, expect, it } from 'vitest'
import { createLog } from '../src/log.ts'

describe('the log', () => {
  it('censors secrets wherever they travel', () => {
    const lines: string[] = []
    const log = createLog('info', { write: (line) => void lines.push(line) })
    log.info(
      { password: 'hunter2', source: { host: 'imap.example', password: 'hunter2' } },
      'connect',
    )
    log.info(
      {
        req: {
          headers: {
            authorization: 'Bearer hunter2',
            cookie: 'hunter2',
            'x-report-token': 'hunter2',
          },
        },
      },
      'request',
    )
    expect(lines.join()).not.toContain('hunter2')
    expect(lines.join()).toContain('imap.example')
  })
})
