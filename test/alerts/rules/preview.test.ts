import { describe, expect, it } from 'vitest'
import { previewAlert, type PreviewChannel } from '../../../src/alerts/rules/preview/preview.ts'
import type { RuleSettings } from '../../../src/alerts/rules/rule.ts'

const channel = (id: string, more: Partial<PreviewChannel> = {}): PreviewChannel => ({
  id,
  name: id,
  status: 'active',
  isUsable: true,
  kinds: null,
  minSeverity: null,
  quietHours: null,
  criticalAnytime: false,
  ...more,
})
const rule = (channels: string[], more: Partial<RuleSettings> = {}): RuleSettings => ({
  name: '',
  enabled: true,
  kinds: null,
  objects: null,
  labels: null,
  minSeverity: null,
  channels,
  quietHours: null,
  criticalAnytime: true,
  escalation: null,
  ...more,
})
const SUBJECT = {
  kind: 'blacklist.listed',
  severity: 'error' as const,
  names: ['mail.example.com'],
  labels: [],
}
/** A Tuesday. */
const NOW = new Date('2026-11-24T22:30:00Z')
const NIGHT = {
  days: ['tue' as const],
  from: '22:00',
  to: '07:00',
  timeZone: 'UTC',
}
const OWN_NIGHT = { from: '21:00', to: '08:00', timeZone: 'UTC' }

type Case = [string, RuleSettings[], PreviewChannel[], string[]]

describe('a preview', () => {
  it.each<Case>([
    ['follows the channels without rules', [], [channel('a'), channel('b')], ['a now', 'b now']],
    [
      'leaves out other kinds without rules',
      [],
      [channel('a', { kinds: ['dmarc'] }), channel('b', { kinds: ['blacklist'] })],
      ['a not', 'b now'],
    ],
    [
      'leaves out less urgent alerts without rules',
      [],
      [channel('a', { minSeverity: 'critical' }), channel('b', { minSeverity: 'error' })],
      ['a not', 'b now'],
    ],
    ['follows the first rule', [rule(['b']), rule(['a'])], [channel('a'), channel('b')], ['b now']],
    [
      'ignores the kinds of a named channel',
      [rule(['a'])],
      [channel('a', { kinds: ['dns'] })],
      ['a now'],
    ],
    [
      'goes on after a rule without a usable channel',
      [rule(['a']), rule(['b'])],
      [channel('a', { isUsable: false, status: 'disabled' }), channel('b')],
      ['b now'],
    ],
    [
      'stays with a rule whose channel a member turned off',
      [rule(['a']), rule(['b'])],
      [channel('a', { status: 'off' }), channel('b')],
      ['a not'],
    ],
    ['names deleted channels', [rule(['a', 'x'])], [channel('a')], ['a now', 'x not']],
    [
      'holds for the rule',
      [rule(['a'], { quietHours: NIGHT })],
      [channel('a')],
      ['a 2026-11-25T07:00:00.000Z'],
    ],
    [
      'holds for the channel',
      [rule(['a'])],
      [channel('a', { quietHours: OWN_NIGHT })],
      ['a 2026-11-25T08:00:00.000Z'],
    ],
    [
      'holds for both, the later end',
      [rule(['a'], { quietHours: NIGHT })],
      [channel('a', { quietHours: OWN_NIGHT })],
      ['a 2026-11-25T08:00:00.000Z'],
    ],
  ])('%s', (_name, rules, channels, expected) => {
    const { channels: previewed } = previewAlert(rules, channels, SUBJECT, NOW)
    const shown = previewed.map(
      ({ id, receives, heldUntil }) =>
        `${id} ${receives ? (heldUntil?.toISOString() ?? 'now') : 'not'}`,
    )
    expect(shown).toEqual(expected)
  })

  it('gives the times of all steps', () => {
    const steps = [15, 30].map((afterMinutes) => ({ afterMinutes, channels: ['a'] }))
    const timesOf = (more: Partial<RuleSettings>) =>
      previewAlert(
        [rule(['a'], { escalation: { steps, repeats: 0 }, ...more })],
        [channel('a')],
        SUBJECT,
        NOW,
      ).escalation.map(({ at }) => at.toISOString().slice(0, 16))
    expect(timesOf({})).toEqual(['2026-11-24T22:45', '2026-11-24T23:15'])
    expect(timesOf({ quietHours: NIGHT })).toEqual(['2026-11-25T07:15', '2026-11-25T07:45'])
    const soon = { ...NIGHT, from: '23:00' }
    expect(timesOf({ quietHours: soon })).toEqual(['2026-11-24T22:45', '2026-11-25T07:30'])
  })
})
