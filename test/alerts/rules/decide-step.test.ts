import { describe, expect, it } from 'vitest'
import { decideStep } from '../../../src/alerts/rules/escalation/escalate.ts'
import type { DueEscalation } from '../../../src/alerts/rules/escalation/escalation.sql.ts'

describe('a due step', () => {
  const now = new Date('2026-11-24T23:00:00Z')
  const due: Omit<DueEscalation, 'id' | 'workspaceId'> = {
    severity: 'error',
    kind: 'blacklist.listed',
    openedAt: now,
    isOver: false,
    snoozedUntil: null,
    step: 0,
    ruleId: 'rule',
    enabled: true,
    escalation: {
      steps: [
        { afterMinutes: 15, channels: ['first'] },
        { afterMinutes: 30, channels: ['second'] },
      ],
      repeats: 1,
    },
    quietHours: null,
    criticalAnytime: true,
    alertId: 'alert',
  }
  const quietHours = {
    days: ['tue' as const],
    from: '22:00',
    to: '07:00',
    timeZone: 'UTC',
  }
  const waits = (until: string) => ({ kind: 'wait', until: new Date(until) })
  const sends = (channel: string, following: number | null) => ({
    kind: 'send',
    channels: [channel],
    following,
  })

  it.each<[string, Partial<typeof due>, object]>([
    ['goes to its channels', {}, sends('first', 30)],
    ['is followed by the first one of a repeat', { step: 1 }, sends('second', 15)],
    ['is the last one of the last repeat', { step: 3 }, sends('second', null)],
    ['is beyond the last one', { step: 4 }, { kind: 'end' }],
    ['is of an incident that is over', { isOver: true }, { kind: 'end' }],
    ['is of a rule that is off', { enabled: false }, { kind: 'end' }],
    ['is of a deleted rule', { enabled: null, escalation: null }, { kind: 'end' }],
    ['waits for a snooze', { snoozedUntil: now }, waits('2026-11-24T23:15:00Z')],
    ['waits for quiet hours', { quietHours }, waits('2026-11-25T07:15:00Z')],
    ['is critical in quiet hours', { quietHours, severity: 'critical' }, sends('first', 30)],
    [
      'is critical in quiet hours for all',
      { quietHours, severity: 'critical', criticalAnytime: false },
      waits('2026-11-25T07:15:00Z'),
    ],
  ])('%s', (_name, more, expected) => {
    expect(decideStep({ ...due, ...more }, now)).toEqual(expected)
  })
})
