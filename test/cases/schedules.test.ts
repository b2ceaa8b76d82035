import { quietHoursEnd } from '../../src/alerts/quiet-hours.ts'
import { WEEKDAYS, type RuleQuietHours } from '../../src/alerts/rules/rule.ts'
import { ruleQuietEnd } from '../../src/alerts/rules/quiet.ts'
import { nextOccurrence, type Schedule } from '../../src/digest/digest-schedule.ts'
import { runCases } from './run-cases.ts'

type Input =
  | { quietHours: Omit<RuleQuietHours, 'days'> & Partial<RuleQuietHours>; at: string }
  | { digest: Schedule; after: string }

runCases('schedules.json', (input: Input) => {
  if ('digest' in input) return { next: iso(nextOccurrence(input.digest, new Date(input.after))) }
  const { quietHours, at } = input
  const ofRule = iso(ruleQuietEnd({ days: [...WEEKDAYS], ...quietHours }, new Date(at)))
  if (quietHours.days) return { until: ofRule }
  const ofChannel = iso(quietHoursEnd(quietHours, new Date(at)))
  return { until: ofRule === ofChannel ? ofRule : { ofRule, ofChannel } }
})

const iso = (time: Date | null) => time && time.toISOString().replace('.000Z', 'Z')
