import { describe, expect, it } from 'vitest'
import { portsOf, wrongPorts } from '../../web/src/monitoring/ports.ts'
import { describeDayStrip } from '../../web/src/monitoring/day-strip.ts'
import {
  availabilityText,
  certificateProblems,
  certificateStatus,
  certificateText,
  summarizeHosts,
} from '../../web/src/monitoring/messages.ts'

const NONE = { pending: 0, clean: 0, listed: 0, unknown: 0 }

describe('the summary of all hosts', () => {
  it.each<[Partial<typeof NONE>, string, string]>([
    [{ listed: 1, clean: 2 }, 'bad', '1 of 3 hosts is listed.'],
    [{ listed: 2, unknown: 1 }, 'bad', '2 of 3 hosts are listed. 1 couldn’t be checked.'],
    [{ listed: 1 }, 'bad', 'Your host is listed.'],
    [{ unknown: 1, clean: 1 }, 'unknown', 'No known listings. 1 couldn’t be checked.'],
    [{ pending: 1 }, 'info', 'The first check is running…'],
    [{ clean: 1, pending: 1 }, 'good', 'None of your hosts is listed.'],
  ])('%j: %s, %s', (counts, tone, sentence) => {
    expect(summarizeHosts({ ...NONE, ...counts })).toEqual({ tone, sentence })
  })
})

describe('the availability', () => {
  it.each([
    [100, '100%'],
    [99.999, '99.99%'],
    [0, '0%'],
    [null, null],
  ])('of %s is shown as %s, never rounded up', (percent, text) => {
    expect(availabilityText({ percent } as never)).toBe(text)
  })
})

describe('typed ports', () => {
  it('are read with spaces, commas and repetitions', () => {
    expect(portsOf(' 443, 25;993 443 ')).toEqual([443, 25, 993])
    expect([portsOf(''), wrongPorts('')]).toEqual([[], {}])
  })
  it.each(['https', '0', '65536', '25.5', '1 2 3 4 5 6 7 8 9'])('are rejected: %s', (text) => {
    expect(wrongPorts(text)).toHaveProperty('tlsPorts')
  })
})

describe('the days of a host', () => {
  const now = Date.parse('2026-11-21T12:00:00.000Z')
  const period = (state: 'clean' | 'listed' | 'unknown', from: string, to: string) => ({
    state,
    from: `2026-11-${from}:00.000Z`,
    to: `2026-11-${to}:00.000Z`,
  })

  it('have the most severe known state of each', () => {
    const periods = [
      period('unknown', '17T00:00', '18T00:00'),
      period('clean', '18T00:00', '19T23:59'),
      period('listed', '19T23:59', '20T06:00'),
      period('clean', '20T06:00', '21T12:00'),
    ]
    const { text, days } = describeDayStrip(periods, 6, now)
    expect(days.map(({ look }) => look)).toEqual(['none', 'unknown', 'good', 'bad', 'bad', 'good'])
    expect(days[4]).toEqual({ day: '2026-11-20', look: 'bad', title: '20 Nov: listed for 6 hours' })
    expect(text).toBe('5 days: listed on 2, not listed on 2, unknown on 1')
  })
  it('are summarized without listings', () => {
    expect(describeDayStrip([period('clean', '21T00:00', '21T12:00')], 30, now).text).toBe(
      '1 day: not listed on 1',
    )
  })
})

describe('the certificate of a host', () => {
  it.each([
    ['valid', 62, 'good', '62 days left'],
    ['expiring', 1, 'warn', '1 day left'],
    ['expired', -3, 'bad', 'Expired'],
    ['wrong-host', 62, 'bad', 'For another host'],
  ] as const)('%s for %d days: %s, %s', (state, daysRemaining, tone, word) => {
    expect(certificateStatus({ state, daysRemaining })).toEqual({ tone, word })
    expect(certificateText({ state, daysRemaining })).toBe(`Certificate: ${word.toLowerCase()}`)
  })
})

describe('certificate problems', () => {
  const certificate = (port: number, state: string) => ({ port, state }) as never

  it('are described port by port, without the valid ones', () => {
    const certificates = [
      certificate(25, 'valid'),
      certificate(443, 'wrong-host'),
      certificate(993, 'expiring'),
    ]
    expect(certificateProblems({ certificates })).toEqual([
      'Certificate on port 443: for another host.',
      'Certificate on port 993: expiring.',
    ])
  })
})
